/** Comparison with OpenSSH: certificates of `ssh-keygen`, and random ones as `ssh-keygen -L` reads them. */
import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import fc from "fast-check";
import { verifyCertificate } from "../../src/authentication/ssh_key/certificate/verify_certificate.ts";
import { parseAuthorities } from "../../src/authentication/ssh_key/authorized_keys.ts";
import {
  readUserCertificate,
  type UserCertificate,
} from "../../src/authentication/ssh_key/certificate/user_certificate.ts";
import { readRevokedKeys } from "../../src/authentication/ssh_key/certificate/revoked_keys.ts";
import { UnusableKey } from "../../src/authentication/ssh_key/public_key.ts";
import { testAuthority } from "../authentication/ssh_key/certificate/signed_certificate.ts";
import { hasProgram, lacking, run } from "./lacking.ts";

const PART = "certificates of ssh-keygen";
const KINDS = [["ed25519"], ["rsa", "-b", "3072"], ["ecdsa", "-b", "256"], ["ecdsa", "-b", "384"], [
  "ecdsa",
  "-b",
  "521",
]] as const;
const MADE = 60;
const DAMAGED = 4000;

if (!await hasProgram("ssh-keygen")) lacking(PART, "install OpenSSH");
else {
  Deno.test(`${PART} are read as ssh-keygen -L prints them`, ofSshKeygen);
  Deno.test(`${PART} are revoked exactly as listed by ssh-keygen -k, by serial, id and key`, revoked);
  Deno.test(
    `${PART}: the service reads certificates with any content as ssh-keygen -L does`,
    ofAnyContent,
  );
}

/** Fields of a certificate that `ssh-keygen -L` prints, as far as we read them. */
interface Printed {
  readonly type: string;
  readonly key: string;
  readonly authority: string;
  readonly keyId: string;
  readonly serial: string;
  readonly valid: string;
  readonly principals: readonly string[];
  readonly critical: readonly string[];
  readonly extensions: readonly string[];
}

async function ofSshKeygen(): Promise<void> {
  await using site = await keys();
  const name = fc.stringMatching(/^[a-z][a-z0-9._@-]{0,12}$/);
  const wanted = fc.record({
    key: fc.nat({ max: KINDS.length - 1 }),
    authority: fc.nat({ max: KINDS.length - 1 }),
    id: fc.stringMatching(/^[A-Za-z0-9 ._-]{1,20}$/),
    serial: fc.bigInt({ min: 0n, max: 0xffff_ffff_ffff_ffffn }),
    principals: fc.uniqueArray(name, { minLength: 1, maxLength: 5 }),
    from: fc.integer({ min: 0, max: 4_000_000_000 }),
    length: fc.integer({ min: 1, max: 100_000_000 }),
    options: fc.subarray(
      [
        "clear",
        "no-pty",
        "no-x11-forwarding",
        "source-address=192.0.2.0/24,2001:db8::/32",
        "force-command=/bin/true",
        "verify-required",
        "critical:moon@example.org=full",
        "extension:moon@example.org=full",
        "extension:ssh-domain-grant@core.aai.geant.org=example.org",
      ],
    ),
  });
  for (const { key, authority, id, serial, principals, from, length, options } of fc.sample(wanted, MADE)) {
    const times = [from, from + length].map((at) => `${wallClock(at).replaceAll(/[-:T]/g, "")}Z`);
    await site.sshKeygen(
      ...["-s", `ca${authority}`, "-I", id, "-z", String(serial), "-n", principals.join()],
      ...["-V", times.join(":"), ...options.flatMap((option) => ["-O", option]), `key${key}.pub`],
    );
    const line = await Deno.readTextFile(`${site.folder}/key${key}-cert.pub`);
    const [printed] = (await site.list(line)).values();
    const certificate = readUserCertificate(line);
    assert.deepEqual(inItsWords(certificate), printed);
    const { authorities } = await parseAuthorities(
      await Deno.readTextFile(`${site.folder}/ca${authority}.pub`),
      "ca",
    );
    const hinders = options.some((option) => /^(force-command|verify-required|critical:)/.test(option));
    const result = verifyCertificate(certificate, {
      authorities,
      revoked: undefined,
      now: from,
      clientAddress: "192.0.2.7",
    });
    assert.equal(result.kind, hinders ? "refused" : "valid", JSON.stringify(result));
    for (const now of [from - 1, from + length]) {
      assert.equal(verifyCertificate(certificate, { authorities, revoked: undefined, now }).kind, "refused");
    }
  }
}

async function revoked(): Promise<void> {
  await using site = await keys();
  const lines: string[] = [];
  for (let i = 0; i < 12; i++) {
    await site.sshKeygen(
      "-s",
      `ca${i % 3}`,
      "-I",
      `id ${i}`,
      "-z",
      String(i + 1),
      "-n",
      "ann",
      `key${i % 5}.pub`,
    );
    lines.push(await Deno.readTextFile(`${site.folder}/key${i % 5}-cert.pub`));
  }
  const key = await Deno.readTextFile(`${site.folder}/key4.pub`);
  const entries = ["serial: 2", "serial: 5-8", "id: id 9", `sha256: ${key.trim()}`, `key: ${key.trim()}`];
  for (const chosen of [entries.slice(0, 1), entries.slice(1, 3), entries.slice(3, 4), entries]) {
    await Deno.writeTextFile(`${site.folder}/spec`, `${chosen.join("\n")}\n`);
    await site.sshKeygen("-k", "-f", "krl", "-s", "ca0.pub", "spec");
    const list = await readRevokedKeys(await Deno.readFile(`${site.folder}/krl`));
    for (const line of lines) {
      await Deno.writeTextFile(`${site.folder}/asked.pub`, line);
      const { success } = await new Deno.Command("ssh-keygen", {
        args: ["-Q", "-f", "krl", "asked.pub"],
        cwd: site.folder,
        stdout: "null",
        stderr: "null",
      }).output();
      assert.equal(list.revokes(readUserCertificate(line)), !success, `${chosen.join()}: ${line}`);
    }
  }
}

async function ofAnyContent(): Promise<void> {
  await using site = await keys();
  const authority = testAuthority();
  const change = fc.array(
    fc.record({
      at: fc.nat(),
      kind: fc.constantFrom("byte", "bit", "out", "twice"),
      value: fc.nat({ max: 255 }),
    }),
    { minLength: 1, maxLength: 3 },
  );
  const lines = fc.sample(change, DAMAGED).map((changes) =>
    authority.certify(["ann", "bob@example.org"], 7, undefined, (body) => changes.reduce(changed, body))
  );
  const printed = await site.list(lines.join("\n"));
  let taken = 0;
  for (const [i, line] of lines.entries()) {
    let certificate;
    try {
      certificate = readUserCertificate(line);
    } catch (error) {
      if (!(error instanceof UnusableKey)) throw error;
      continue;
    }
    taken++;
    const theirs = printed.get(i + 1);
    assert.ok(theirs, `OpenSSH refuses ${line}`);
    const read = [
      fingerprint(certificate.publicKey),
      String(certificate.serial),
      fingerprint(certificate.authority),
    ];
    assert.deepEqual(read, [theirs.key, theirs.serial, theirs.authority], line);
    // ssh-keygen prints unprintable characters in another form.
    if (/^[\x20-\x5b\x5d-\x7e]*$/.test(certificate.principals.join(""))) {
      assert.deepEqual(certificate.principals, theirs.principals, line);
    }
  }
  assert.ok(taken > DAMAGED / 20 && taken < DAMAGED, `${taken} were taken`);
}

function changed(
  body: Buffer,
  { at, kind, value }: { readonly at: number; readonly kind: string; readonly value: number },
): Buffer {
  const position = at % body.length;
  const copy = Buffer.from(body);
  if (kind === "byte") copy[position] = value;
  else if (kind === "bit") copy[position] = (copy[position] ?? 0) ^ (1 << (value % 8));
  else if (kind === "out") return Buffer.concat([copy.subarray(0, position), copy.subarray(position + 1)]);
  else return Buffer.concat([copy.subarray(0, position), copy.subarray(Math.max(0, position - value % 20))]);
  return copy;
}

/** Creates a folder with authorities and keys of all kinds. */
async function keys() {
  const folder = await Deno.makeTempDir({ prefix: "authserver-ssh-" });
  const sshKeygen = (...args: readonly string[]) =>
    run("ssh-keygen", ["-q", ...args], { cwd: folder, env: { TZ: "UTC" } });
  for (const [i, [type, ...more]] of KINDS.entries()) {
    for (const file of [`ca${i}`, `key${i}`]) await sshKeygen("-t", type, ...more, "-N", "", "-f", file);
  }
  return {
    folder,
    sshKeygen,
    /** Returns the output for the certificates among lines, by line number. */
    async list(lines: string): Promise<ReadonlyMap<number, Printed>> {
      await Deno.writeTextFile(`${folder}/lines`, `${lines}\n`);
      const { stdout } = await new Deno.Command("ssh-keygen", {
        args: ["-L", "-f", "lines"],
        cwd: folder,
        env: { TZ: "UTC", LC_ALL: "C" },
        stderr: "null",
      }).output();
      return parseListing(new TextDecoder().decode(stdout));
    },
    [Symbol.asyncDispose]: () => Deno.remove(folder, { recursive: true }),
  };
}

function parseListing(text: string): ReadonlyMap<number, Printed> {
  return new Map(
    text.split(/^lines:/m).slice(1).map((part) => {
      const value = (pattern: RegExp) => pattern.exec(part)?.[1] ?? "";
      const list = (title: string) => {
        const block = new RegExp(`^ {8}${title}: ?\\n((?: {16}.*\\n)*)`, "m").exec(part)?.[1] ?? "";
        return block.split("\n").slice(0, -1).map((line) => line.slice(16));
      };
      return [Number(value(/^(\d+):/) || "1"), {
        type: value(/Type: (\S+) user certificate/),
        key: value(/Public key: \S+ (SHA256:\S+)/),
        authority: value(/Signing CA: \S+ (SHA256:\S+)/),
        keyId: value(/Key ID: "(.*)"/),
        serial: value(/Serial: (\d+)/),
        valid: value(/Valid: (.*)/),
        principals: list("Principals"),
        critical: list("Critical Options"),
        extensions: list("Extensions"),
      }];
    }),
  );
}

function inItsWords(certificate: UserCertificate): Printed {
  const { publicKey, authority, keyId, serial, principals, validAfter, validBefore } = certificate;
  const { criticalOptions, extensions, line } = certificate;
  return {
    type: line.split(" ")[0] ?? "",
    key: fingerprint(publicKey),
    authority: fingerprint(authority),
    keyId,
    serial: String(serial),
    valid: validity(validAfter, validBefore),
    principals,
    critical: [...criticalOptions].map(optionLine),
    extensions: [...extensions].map(optionLine),
  };
}

function fingerprint(key: UserCertificate["publicKey"]): string {
  return `SHA256:${key.fingerprint.replaceAll("=", "")}`;
}

function validity(from: number, to: number): string {
  if (from === 0 && to === Infinity) return "forever";
  if (from === 0) return `before ${wallClock(to)}`;
  return to === Infinity ? `after ${wallClock(from)}` : `from ${wallClock(from)} to ${wallClock(to)}`;
}

function wallClock(seconds: number): string {
  return new Date(seconds * 1000).toISOString().slice(0, 19);
}

/** Returns the line that ssh-keygen prints for an option; for unknown options it prints the bytes. */
function optionLine([name, value]: readonly [string, string]): string {
  if (!name.includes("@")) return value === "" ? name : `${name} ${value}`;
  const content = Buffer.from(value);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(content.length);
  const bytes = value === "" ? Buffer.alloc(0) : Buffer.concat([length, content]);
  return `${name} UNKNOWN OPTION: ${bytes.toString("hex")} (len ${bytes.length})`;
}
