import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { createCipheriv, createHmac, createPrivateKey, pbkdf2Sync, X509Certificate } from "node:crypto";
import { openKeyStore } from "../../../src/config/tls/key_store.ts";
import { derivePkcs12 } from "../../../src/config/tls/pkcs12_certificates.ts";
import { UnusableStore } from "../../../src/config/tls/certificates.ts";
import { createAuthority } from "../../pki/authority.ts";
import * as der from "../../pki/der.ts";

const { certificate, key } = createAuthority({ subject: "CN=CA" }).issue({ subject: "CN=auth" });
const SALT = Buffer.from("0102030405060708", "hex");
const DATA = "1.2.840.113549.1.7.1";

interface Store {
  readonly password: string;
  /** Whether the integrity check uses a password of zero bytes, without even the terminating zero. */
  readonly zeroLength?: boolean;
  /** Iterations of the integrity check; absent: no check. A store that states no number has one. */
  readonly macRounds?: number;
  /** Digest of PBKDF2; absent: no encryption. A store that names none has SHA-1. */
  readonly encrypted?: "sha1" | "sha256";
  readonly keys?: number;
}

Deno.test("openKeyStore() refuses several keys, and encodings that it does not read, and names the commands", () => {
  const several = store({ password: "secret", macRounds: 2048, keys: 2 });
  assert.throws(
    () => openKeyStore(several, "secret"),
    /one private key, this one has 2; .*keytool .*-srcalias/,
  );
  const indefinite = Uint8Array.of(0x30, 0x80, 0x02, 0x01, 0x03, 0x00, 0x00);
  assert.throws(() => openKeyStore(indefinite, "secret"), /supported encoding.*openssl pkcs12/);
});

const number = (value: number) =>
  der.integer(Buffer.from([value >> 8, value & 0xff].slice(value > 0x7f ? 0 : 1)));

/** Encrypts a text by PBES2 (RFC 8018, 6.2). @returns Algorithm and encrypted text. */
function encrypt(text: Uint8Array, password: string, digest: "sha1" | "sha256"): readonly [Buffer, Buffer] {
  const iv = Buffer.alloc(16, 7);
  const mixing = digest === "sha1"
    ? []
    : [der.sequence(der.objectIdentifier("1.2.840.113549.2.9"), der.nothing())];
  const algorithm = der.sequence(
    der.objectIdentifier("1.2.840.113549.1.5.13"),
    der.sequence(
      der.sequence(
        der.objectIdentifier("1.2.840.113549.1.5.12"),
        der.sequence(der.octetString(SALT), number(2048), ...mixing),
      ),
      der.sequence(der.objectIdentifier("2.16.840.1.101.3.4.1.42"), der.octetString(iv)),
    ),
  );
  const cipher = createCipheriv("aes-256-cbc", pbkdf2Sync(password, SALT, 2048, 32, digest), iv);
  return [algorithm, Buffer.concat([cipher.update(text), cipher.final()])];
}

/** Returns a PKCS#12 store (RFC 7292) with a certificate and its key, `keys` times. */
function store({ password, zeroLength = false, macRounds, encrypted, keys = 1 }: Store): Uint8Array {
  const bag = (kind: string, value: Uint8Array) =>
    der.sequence(der.objectIdentifier(kind), der.explicit(0, value));
  const pkcs8 = createPrivateKey(key).export({ type: "pkcs8", format: "der" });
  const plain = (content: Uint8Array) =>
    der.sequence(der.objectIdentifier(DATA), der.explicit(0, der.octetString(content)));
  const sealed = encrypted && encrypt(pkcs8, password, encrypted);
  const keyBag = sealed === undefined
    ? bag("1.2.840.113549.1.12.10.1.1", pkcs8)
    : bag("1.2.840.113549.1.12.10.1.2", der.sequence(sealed[0], der.octetString(sealed[1])));
  const certificateBag = bag(
    "1.2.840.113549.1.12.10.1.3",
    der.sequence(
      der.objectIdentifier("1.2.840.113549.1.9.22.1"),
      der.explicit(0, der.octetString(new X509Certificate(certificate).raw)),
    ),
  );
  const keyBags = Array.from({ length: keys }, () => keyBag);
  const content = der.sequence(plain(der.sequence(...keyBags)), plain(der.sequence(certificateBag)));
  const secret = zeroLength ? undefined : password;
  const common = { digest: "sha256", password: secret, salt: SALT, purpose: "mac", length: 32 } as const;
  const check = macRounds === undefined ? [] : [der.sequence(
    der.sequence(
      der.sequence(der.objectIdentifier("2.16.840.1.101.3.4.2.1"), der.nothing()),
      der.octetString(
        createHmac("sha256", derivePkcs12({ ...common, iterations: macRounds })).update(content).digest(),
      ),
    ),
    der.octetString(SALT),
    ...(macRounds === 1 ? [] : [number(macRounds)]),
  )];
  return der.sequence(number(3), plain(content), ...check);
}

const stores: [string, Store][] = [
  ["one iteration of its integrity check", { password: "secret", macRounds: 1, encrypted: "sha256" }],
  ["PBES2 with SHA-1", { password: "secret", macRounds: 2048, encrypted: "sha1" }],
  ["PBES2 with SHA-256", { password: "secret", macRounds: 2048, encrypted: "sha256" }],
  ["an empty password", { password: "", macRounds: 2048, encrypted: "sha1" }],
  ["a zero-length password", { password: "", zeroLength: true, macRounds: 2048, encrypted: "sha256" }],
  ["no password, no encryption and no integrity check", { password: "" }],
  ["no encryption", { password: "secret", macRounds: 2048 }],
];
for (const [what, made] of stores) {
  Deno.test(`openKeyStore() reads a store with ${what}`, () => {
    const opened = openKeyStore(store(made), made.password === "" ? undefined : made.password);
    assert.deepEqual(opened.certificates.map(String), [new X509Certificate(certificate).toString()]);
    assert(opened.key.equals(createPrivateKey(key)));
    if (made.macRounds === undefined) return;
    for (const wrong of ["wrong", ...(made.password === "" ? [] : [""])]) {
      assert.throws(() => openKeyStore(store(made), wrong), UnusableStore);
    }
  });
}
