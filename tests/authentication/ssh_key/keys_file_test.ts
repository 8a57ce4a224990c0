import assert from "node:assert/strict";
import fc from "fast-check";
import { parseKeysFile } from "../../../src/authentication/ssh_key/keys_file.ts";
import { formatDiagnostic } from "../../../src/model/diagnostic.ts";
import { publicLine, SHEET_KEY_LINE } from "./user_keys.ts";

const DN = "CN=Ann Example, O=Site-A, C=DE";

async function read(text: string) {
  const { keys, diagnostics } = await parseKeysFile(text, "conf/keys.txt");
  const users = [...keys].map(([user, list]) => [user, list.map(({ dn }) => dn)]);
  return { users: Object.fromEntries(users), diagnostics: diagnostics.map(formatDiagnostic) };
}

Deno.test("parseKeysFile() reads the documented example", async () => {
  assert.deepEqual(await read(`ann:${SHEET_KEY_LINE}:${DN}\n`), { users: { ann: [DN] }, diagnostics: [] });
});

Deno.test("parseKeysFile() skips blank lines, comments, a byte order mark and carriage returns", async () => {
  const text = `\ufeff# users\r\n\r\n   # indented\r\n \t\r\nann:${SHEET_KEY_LINE}: ${DN} \r\n#bob:x:y`;
  assert.deepEqual(await read(text), { users: { ann: [DN] }, diagnostics: [] });
});

Deno.test("parseKeysFile() keeps several lines of a user in their order, with their own names", async () => {
  const names = ["user_ed25519", "user_rsa2048", "user_ecdsa256", "user_ecdsa384", "user_ecdsa521"];
  const text = names.map((name, i) => `ann:${publicLine(name)}:CN=Ann ${i}`).join("\n");
  assert.deepEqual(await read(text), {
    users: { ann: ["CN=Ann 0", "CN=Ann 1", "CN=Ann 2", "CN=Ann 3", "CN=Ann 4"] },
    diagnostics: [],
  });
});

Deno.test("parseKeysFile() splits at the first and the last colon, so options and comments may hold colons", async () => {
  const line = `ann:from="2001:db8::/32,192.0.2.1",no-pty ${SHEET_KEY_LINE} at home: laptop:${DN}`;
  assert.deepEqual(await read(line), { users: { ann: [DN] }, diagnostics: [] });
});

const PLACE = "conf/keys.txt:1: ";
const FORM = "expected user:key:DN";
const BAD: [string, unknown, string][] = [
  ["ann", {}, `${FORM}, the user a Unix account other than root`],
  [`:${SHEET_KEY_LINE}:${DN}`, {}, `${FORM}, the user a Unix account other than root`],
  [`a b:${SHEET_KEY_LINE}:${DN}`, {}, `${FORM}, the user a Unix account other than root`],
  [`root:${SHEET_KEY_LINE}:${DN}`, {}, `${FORM}, the user a Unix account other than root`],
  [`ann:${SHEET_KEY_LINE}`, { ann: [] }, FORM],
  [`ann:${SHEET_KEY_LINE}:`, { ann: [] }, "expected a DN behind the last colon"],
  [`ann:${SHEET_KEY_LINE}: `, { ann: [] }, "expected a DN behind the last colon"],
  [`ann:${SHEET_KEY_LINE}:Ann Example`, { ann: [] }, "expected a DN behind the last colon"],
  [`ann:${SHEET_KEY_LINE}:CN=urn:OU=x`, { ann: [] }, "expected a DN without colons"],
  [`ann::${DN}`, { ann: [] }, "expected a public key between the colons"],
  [`ann:#${SHEET_KEY_LINE}:${DN}`, { ann: [] }, "expected a public key between the colons"],
  [`ann:ssh-ed25519 AAAA:${DN}`, { ann: [] }, "key is not used: key is cut off"],
  [`ann:${publicLine("old_dsa")}:${DN}`, { ann: [] }, "key is not used: key type is not supported"],
  [
    `ann:command="id" ${SHEET_KEY_LINE}:${DN}`,
    { ann: [] },
    "key is not used: option command: the key may run only one command",
  ],
];

for (const [line, users, expected] of BAD) {
  Deno.test(`parseKeysFile() reports a bad line only by number: ${line.slice(0, 40)}…${line.slice(-12)}`, async () => {
    assert.deepEqual(await read(line), { users, diagnostics: [PLACE + expected] });
    assert.deepEqual(await read(`# x\n\n${line}\nbob:${SHEET_KEY_LINE}:${DN}`), {
      users: { ...Object(users), bob: [DN] },
      diagnostics: [`conf/keys.txt:3: ${expected}`],
    });
  });
}

Deno.test("parseKeysFile() never throws, and repeats no key, whatever the text", async () => {
  const piece = fc.oneof(fc.string(), fc.constantFrom("ann", ":", "\n", SHEET_KEY_LINE, DN, "#", '"', "CN="));
  await fc.assert(
    fc.asyncProperty(fc.array(piece, { maxLength: 30 }), async (pieces) => {
      for (const diagnostic of (await parseKeysFile(pieces.join(""), "f")).diagnostics) {
        assert.ok(!formatDiagnostic(diagnostic).includes("AAAAC3"));
      }
    }),
    { numRuns: 1000 },
  );
});
