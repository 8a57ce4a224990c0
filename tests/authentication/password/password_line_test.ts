import assert from "node:assert/strict";
import fc from "fast-check";
import { formatStoredHash, md5Digest, randomSalt } from "../../../src/authentication/password/stored_hash.ts";
import { parsePasswordLine } from "../../../src/authentication/password/password_table.ts";
import { PRINTABLE } from "../../fixtures/character.ts";

const MD5 = "447abe86dd2c12ca422693a3089de5c6";
const SCRYPT = "$scrypt$ln=16,r=8,p=1$aM15713r3Xsvxbi31lqr1Q$nFNh2CVHVjNldFVKDHDlm4CbdRSCdEBsjjJxD+iCs5E";

for (const line of ["", "   ", "\t", "#", "# ann:x:y:CN=a", "  # indented", `\t#${MD5}`]) {
  Deno.test(`parsePasswordLine() finds nothing in ${JSON.stringify(line)}`, () => {
    assert.deepEqual(parsePasswordLine(line), { kind: "nothing" });
  });
}

/** Line, user, hash and salt as formatStoredHash() writes them, and DN. */
const ENTRIES: [string, string, string, string, string][] = [
  [
    `ann:${MD5}:Rk3_vT8mZq0LxN5w:CN=Ann Example, OU=Lab 2`,
    "ann",
    MD5,
    "Rk3_vT8mZq0LxN5w",
    "CN=Ann Example, OU=Lab 2",
  ],
  [`ann:${MD5.toUpperCase()}:s:CN=a`, "ann", MD5, "s", "CN=a"],
  [`ann:${MD5}::CN=a`, "ann", MD5, "", "CN=a"],
  [`ann:${MD5}:s:  CN=a \t`, "ann", MD5, "s", "CN=a"],
  [`ann:${MD5}:s:CN=a:b:c`, "ann", MD5, "s", "CN=a:b:c"],
  [` ann : s`.replace(": s", `:${MD5}: s :CN=a`), " ann ", MD5, " s ", "CN=a"],
  [`jürgen:${MD5}:Salz#1:CN=Jürgen`, "jürgen", MD5, "Salz#1", "CN=Jürgen"],
  [`__proto__:${MD5}:s:CN=a`, "__proto__", MD5, "s", "CN=a"],
  [`ann:${SCRYPT}::CN=a`, "ann", SCRYPT, "", "CN=a"],
];

for (const [line, user, hash, salt, dn] of ENTRIES) {
  Deno.test(`parsePasswordLine() reads ${line}`, () => {
    const parsed = parsePasswordLine(line);
    assert.equal(parsed.kind, "entry");
    if (parsed.kind !== "entry") return;
    assert.deepEqual([parsed.user, parsed.dn], [user, dn]);
    assert.deepEqual(formatStoredHash(parsed.hash), { hash, salt });
  });
}

const BAD: [string, "unusable" | "disabled", RegExp][] = [
  ["ann", "unusable", /^expected username:hash:salt:DN: without all four fields nobody can log in/],
  [`ann:${MD5}`, "unusable", /username:hash:salt:DN/],
  [
    `ann:${MD5}:s`,
    "unusable",
    /without the distinguished name .* nobody can log in .*, append what is missing/,
  ],
  [`:${MD5}:s:CN=a`, "unusable", /user name before the first colon/],
  [`ann:${MD5.slice(1)}:s:CN=a`, "disabled", /32 hexadecimal digits/],
  [`ann:${MD5}0:s:CN=a`, "disabled", /32 hexadecimal digits/],
  [`ann: ${MD5}:s:CN=a`, "disabled", /32 hexadecimal digits/],
  ["ann:*:s:CN=a", "disabled", /32 hexadecimal digits/],
  ["ann:$argon2id$v=19$m=16,t=2,p=1$AAAA$AAAA:s:CN=a", "disabled", /32 hexadecimal digits/],
  [`ann:${SCRYPT}:s:CN=a`, "disabled", /empty salt field/],
  [`ann:${SCRYPT.replace("r=8,", "")}::CN=a`, "disabled", /\$scrypt\$ln=/],
  [`ann:${SCRYPT.replace("ln=16", "ln=016")}::CN=a`, "disabled", /\$scrypt\$ln=/],
  [`ann:${SCRYPT.replace("ln=16", "ln=-1")}::CN=a`, "disabled", /\$scrypt\$ln=/],
  [`ann:${SCRYPT.replace("ln=16", "ln=9")}::CN=a`, "disabled", /at least ln=10/],
  [`ann:${SCRYPT.replace("r=8", "r=0")}::CN=a`, "disabled", /at least ln=10, r=1/],
  [`ann:${SCRYPT.replace("p=1", "p=0")}::CN=a`, "disabled", /at least ln=10/],
  [`ann:${SCRYPT.replace("ln=16", "ln=18")}::CN=a`, "disabled", /at most 128 MiB/],
  [`ann:${SCRYPT.replace("ln=16", "ln=99")}::CN=a`, "disabled", /at most 128 MiB/],
  [`ann:${SCRYPT.replace("r=8", "r=99")}::CN=a`, "disabled", /at most 128 MiB/],
  [`ann:${SCRYPT.replace("p=1", "p=3")}::CN=a`, "disabled", /at most 2\^20/],
  [`ann:${SCRYPT.replace("$aM15713r3Xsvxbi31lqr1Q", "$aM15")}::CN=a`, "disabled", /salt of 8 to 64 bytes/],
  [`ann:${SCRYPT.replace("lqr1Q$", "lqr1R$")}::CN=a`, "disabled", /salt of 8 to 64 bytes/],
  [`ann:${SCRYPT.slice(0, -30)}::CN=a`, "disabled", /key of 16 to 64 bytes/],
  [`ann:${SCRYPT}${"A".repeat(48)}::CN=a`, "disabled", /key of 16 to 64 bytes/],
  [`ann:${MD5}:s:`, "disabled", /distinguished name after the third colon: it is empty/],
  [`ann:${MD5}:s:demouser`, "disabled", /distinguished name after the third colon: .* character/],
  [`ann:${MD5}:s:CN=a,`, "disabled", /distinguished name/],
];

for (const [line, kind, expected] of BAD) {
  Deno.test(`parsePasswordLine() finds ${kind}: ${line}`, () => {
    const parsed = parsePasswordLine(line);
    assert.equal(parsed.kind, kind);
    if (parsed.kind !== "unusable" && parsed.kind !== "disabled") return;
    assert.match(parsed.expected ?? "", expected);
    for (const secret of [MD5, SCRYPT.slice(-20)]) assert.ok(!parsed.expected?.includes(secret));
  });
}

Deno.test("parsePasswordLine() reads an empty hash as a user disabled on purpose", () => {
  assert.deepEqual(parsePasswordLine("ann::s:CN=a"), { kind: "disabled", user: "ann" });
});

Deno.test("parsePasswordLine() reads back any entry", () => {
  const field = fc.string({ unit: PRINTABLE }).filter((text) => !/[:\n]/.test(text));
  const user = field.filter((text) => !/^\s*(?:#|$)/.test(text));
  fc.assert(fc.property(user, field, fc.string(), (user, salt, password) => {
    const hash = md5Digest(salt, password);
    const parsed = parsePasswordLine(`${user}:${hash}:${salt}:CN=Ann, C=DE`);
    assert.deepEqual(parsed, {
      kind: "entry",
      user,
      hash: { kind: "md5", salt, digest: hash },
      dn: "CN=Ann, C=DE",
    });
  }));
});

Deno.test("parsePasswordLine() never throws", () => {
  const piece = fc.constantFrom(
    ":",
    "#",
    " ",
    "ann",
    MD5,
    SCRYPT,
    "$scrypt$",
    "ln=",
    "CN=a",
    ",",
    "\\",
    '"',
    "\0",
  );
  fc.assert(fc.property(fc.array(fc.oneof(piece, fc.string())), (pieces) => {
    parsePasswordLine(pieces.join(""));
  }));
});

Deno.test("randomSalt() returns 16 characters of the specification's alphabet, and uses all of them", () => {
  const seen = new Set<string>();
  for (let i = 0; i < 500; i++) {
    const salt = randomSalt();
    assert.match(salt, /^[A-Za-z0-9_]{16}$/);
    for (const letter of salt) seen.add(letter);
  }
  assert.equal(seen.size, 63);
});
