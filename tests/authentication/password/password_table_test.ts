import assert from "node:assert/strict";
import fc from "fast-check";
import { parsePasswordFile } from "../../../src/authentication/password/password_table.ts";
import { formatDiagnostic } from "../../../src/model/diagnostic.ts";

const MD5 = "447abe86dd2c12ca422693a3089de5c6";
const scrypt = (ln: number) =>
  `$scrypt$ln=${ln},r=8,p=1$aM15713r3Xsvxbi31lqr1Q$nFNh2CVHVjNldFVKDHDlm4CbdRSCdEBsjjJxD+iCs5E`;

async function read(...lines: string[]) {
  const { entries, costs, diagnostics } = await parsePasswordFile(lines.join("\n"), "users.txt");
  return {
    users: [...entries].map(([user, { dn }]) => `${user} ${dn}`),
    costs,
    diagnostics: diagnostics.map(formatDiagnostic),
  };
}

Deno.test("parsePasswordFile() reads entries between comments and blank lines, whatever the line ends", async () => {
  assert.deepEqual(await read("# users\r", "", `ann:${MD5}:s:CN=Ann\r`, `bob:${scrypt(16)}::CN=Bob`, ""), {
    users: ["ann CN=Ann", "bob CN=Bob"],
    costs: [{ ln: 16, r: 8, p: 1 }],
    diagnostics: [],
  });
});

Deno.test("parsePasswordFile() reads an empty file as no users", async () => {
  assert.deepEqual(await read(""), { users: [], costs: [], diagnostics: [] });
});

Deno.test("parsePasswordFile() reports bad lines by number and continues", async () => {
  assert.deepEqual(await read("ann", `bob:${MD5}:s:CN=Bob`, `eve:${MD5}x:s:CN=Eve`), {
    users: ["bob CN=Bob"],
    costs: [],
    diagnostics: [
      "users.txt:1: expected username:hash:salt:DN: without all four fields nobody can log in by this line, append what is missing or let authserver passwd write the line",
      "users.txt:3: expected a hash of 32 hexadecimal digits or $scrypt$…",
    ],
  });
});

Deno.test("parsePasswordFile() uses the last line of a user", async () => {
  assert.deepEqual(await read(`ann:${MD5}:s:CN=1`, `bob:${MD5}:s:CN=b`, `ann:${MD5}:s:CN=2`), {
    users: ["bob CN=b", "ann CN=2"],
    costs: [],
    diagnostics: ["users.txt:3: expected each user once: this line replaces line 1"],
  });
});

Deno.test("parsePasswordFile() reads users whose names differ in case, and reports the later ones", async () => {
  const lines = ["ann", "bob", "Ann", "ANN"].map((user, i) => `${user}:${MD5}:s:CN=${i}`);
  const { users, diagnostics } = await read(...lines);
  assert.deepEqual(users, ["ann CN=0", "bob CN=1", "Ann CN=2", "ANN CN=3"]);
  assert.deepEqual(
    diagnostics,
    [3, 4].map((line) =>
      `users.txt:${line}: expected another name: throttling and bans take it for an earlier user's`
    ),
  );
});

for (const [what, last] of [["an empty", ""], ["an unusable", "!"]] as const) {
  Deno.test(`parsePasswordFile() disables a user with ${what} hash in the last line`, async () => {
    assert.deepEqual((await read(`ann:${MD5}:s:CN=1`, `ann:${last}:s:CN=1`)).users, []);
  });
}

Deno.test("parsePasswordFile() limits the number of different scrypt costs", async () => {
  const lines = [11, 12, 13, 14, 15, 11].map((ln, i) => `u${i}:${scrypt(ln)}::CN=${i}`);
  const { users, costs, diagnostics } = await read(...lines);
  assert.deepEqual(users, ["u0 CN=0", "u1 CN=1", "u2 CN=2", "u3 CN=3", "u5 CN=5"]);
  assert.equal(costs.length, 4);
  assert.deepEqual(diagnostics, ["users.txt:5: expected at most 4 different scrypt costs in one file"]);
});

Deno.test("parsePasswordFile() yields to the event loop in a long file", async () => {
  let semaphore = 0;
  const timer = setInterval(() => semaphore++, 0);
  const lines = Array.from({ length: 20_000 }, (_, i) => `user${i}:${MD5}:s:CN=User ${i}, O=Site`);
  assert.equal((await read(...lines)).users.length, 20_000);
  clearInterval(timer);
  assert.ok(semaphore >= 3, `${semaphore} turns`);
});

Deno.test("parsePasswordFile() never throws and never repeats a line", async () => {
  const canary = "c4n4ry";
  const line = fc.array(fc.constantFrom(":", "#", "ann", MD5, scrypt(14), canary, "$scrypt$", "CN=a", "\r"))
    .map((pieces) => pieces.join(""));
  await fc.assert(fc.asyncProperty(fc.array(line), async (lines) => {
    const { diagnostics } = await read(...lines);
    assert.ok(diagnostics.every((diagnostic) => !diagnostic.includes(canary) && !diagnostic.includes(MD5)));
  }));
});
