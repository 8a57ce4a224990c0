import assert from "node:assert/strict";
import { formatDuration, nagiosStatus, pluginResult } from "../../../src/command/running/status.ts";

Deno.test("formatDuration() returns the two largest units", () => {
  const shown = [0, 59, 60, 3661, 90_061, 864_000].map(formatDuration);
  assert.deepEqual(shown, ["0 s", "59 s", "1 min 0 s", "1 h 1 min", "1 d 1 h", "10 d 0 h"]);
});

const WELL = {
  servers: [{ name: "HPC", usable: true }, { name: "TAPE", usable: true }],
  certificate: { daysLeft: 200 },
  lastReload: { ok: true },
  sessions: { granted: 12, refused: 3 },
  memoryBytes: 1000,
};
const DATA = "servers=2;;;0;2 sessions=12c refused=3c memory=1000B;;;0 certificate_days=200;;0:";

const CASES: readonly (readonly [what: string, answer: unknown, status: number, line: string])[] = [
  ["all is well", WELL, 0, `AUTHSERVER OK - 2 of 2 servers usable | ${DATA}\n`],
  [
    "a server is down",
    { ...WELL, servers: [{ name: "HPC", usable: true }, { name: "TAPE", usable: false }] },
    1,
    `AUTHSERVER WARNING - no session is possible on TAPE | ${DATA.replace("servers=2", "servers=1")}\n`,
  ],
  [
    "no server is usable",
    { ...WELL, servers: [{ name: "HPC", usable: false }] },
    2,
    `AUTHSERVER CRITICAL - no session is possible on HPC | ${
      DATA.replace("servers=2;;;0;2", "servers=0;;;0;1")
    }\n`,
  ],
  [
    "the certificate expires soon",
    { ...WELL, certificate: { daysLeft: 13, endsSoon: true, expires: "2026-01-05T09:15:00.000Z" } },
    1,
    `AUTHSERVER WARNING - certificate ends at 2026-01-05 09:15:00Z | ${
      DATA.replace("days=200", "days=13")
    }\n`,
  ],
  [
    "a short-lived certificate is new",
    { ...WELL, certificate: { daysLeft: 0, endsSoon: false } },
    0,
    `AUTHSERVER OK - 2 of 2 servers usable | ${DATA.replace("days=200", "days=0")}\n`,
  ],
  [
    "the certificate has expired",
    { ...WELL, certificate: { daysLeft: -1, endsSoon: true } },
    2,
    `AUTHSERVER CRITICAL - the certificate has expired | ${DATA.replace("days=200", "days=-1")}\n`,
  ],
  [
    "the configuration is broken",
    { ...WELL, lastReload: { ok: false } },
    1,
    `AUTHSERVER WARNING - the configuration on disk is not in use | ${DATA}\n`,
  ],
  [
    "a file cannot be used",
    { ...WELL, refusedFiles: ["conf/users.txt:3: expected UTF-8 text"] },
    1,
    `AUTHSERVER WARNING - a file on disk is not in use: conf/users.txt:3: expected UTF-8 text | ${DATA}\n`,
  ],
  [
    "an attribute source is down",
    {
      ...WELL,
      identityProviders: [
        { authenticator: "OAUTH", remote: "idp.example.org", state: "up" },
        { authenticator: "attributes.LDAP", remote: "ldap1:636", state: "down", reason: "no answer" },
      ],
    },
    1,
    `AUTHSERVER WARNING - attributes.LDAP: ldap1:636 is down: no answer | ${DATA}\n`,
  ],
  [
    "the core does not answer",
    { coreDiagnostic: "no answer", sessions: WELL.sessions },
    2,
    "AUTHSERVER CRITICAL - the core does not answer: no answer | servers=0;;;0;0 sessions=12c refused=3c\n",
  ],
];
for (const [what, answer, status, line] of CASES) {
  Deno.test(`nagiosStatus() is ${status} if ${what}`, () => {
    assert.deepEqual(nagiosStatus(answer), { status, line });
  });
}

Deno.test("pluginResult() is one line, with a single bar before the performance data", () => {
  const { line } = pluginResult(3, "one\ntwo | three");
  assert.equal(line.split("\n").length, 2);
  assert.equal(line.includes("|"), false);
});
