import assert from "node:assert/strict";
import fc from "fast-check";
import { parsePing, parseSession, parseUserInfo } from "../../src/daemon/parse_reply.ts";
import { assertAlike } from "../fixtures/assert_alike.ts";
import { CHARACTER } from "../fixtures/character.ts";

Deno.test("parsePing() reads version, limit and port, in any order", () => {
  const facts: [string, ReturnType<typeof parsePing>][] = [
    ["Version: 3.5.3\nListenPort: 50400\nListenAddress: localhost\nMaxSessionsPerClient: 8\n\n", {
      version: "3.5.3",
      sessionLimit: 8,
      listenPort: 50400,
    }],
    ["MaxSessionsPerClient: 16\nVersion: DEV\nAdvertiseAddress: a.example.org\n", {
      version: "DEV",
      sessionLimit: 16,
    }],
    ["Version: 2.6.0\r\nMaxSessionsPerClient: 0\r\n", { version: "2.6.0" }],
    ["Version: 1\nMaxSessionsPerClient: many\n", { version: "1" }],
    ["Version: 1\nListenPort: 65535\n", { version: "1", listenPort: 65535 }],
    ["Version: 1\nListenPort: 65536\n", { version: "1" }],
    ["Version: 1\nListenPort: 0\n", { version: "1" }],
    ["Version: 1\nMaxSessionsPerClient: 9999999999\n", { version: "1" }],
    ["", undefined],
    ["\n", undefined],
    ["OK::64434\n", undefined],
    ["Version:\n", undefined],
    ["Version: <script>\n", undefined],
    [`Version: ${"1".repeat(65)}\n`, undefined],
    ["ListenPort: 50400\n", undefined],
    ["ERROR::Unsupported request type 'uftp-ping-request'\n", undefined],
  ];
  for (const [reply, expected] of facts) assertAlike(parsePing(reply), expected, reply);
});

Deno.test("parseSession() reads port, limit and refusal, also of older daemons", () => {
  const facts: [string, ReturnType<typeof parseSession>][] = [
    ["OK::64434\n", { kind: "expected", port: 64434 }],
    ["OK::1\r\n", { kind: "expected", port: 1 }],
    ["ERROR::Duplicate secret - this is not allowed.\n", {
      kind: "refused",
      text: "Duplicate secret - this is not allowed.",
    }],
    ["ERROR::Too many active sessions for 'alice' - server limit is 8\n", {
      kind: "limit",
      text: "Too many active sessions for 'alice' - server limit is 8",
    }],
    ["500::no\n", { kind: "refused", text: "no" }],
    ["ERROR::\n", { kind: "refused", text: "" }],
    ...[
      "",
      "\n",
      "OK::64434",
      "OK::643\n4\n",
      "OK::\n",
      "OK::0\n",
      "OK::65536\n",
      "OK::064\n",
      "OK::-1\n",
      "OK:: 1\n",
      "OK::1\n\n",
    ]
      .map((reply): [string, undefined] => [reply, undefined]),
    ...[
      "ok::1\n",
      "OK::1x\n",
      " OK::1\n",
      "OKAY::1\n",
      "ERROR\n",
      "ERROR::a\nOK::1\n",
      "OK::1\nOK::2\n",
      "220 UFTPD 3.5.3\n",
      "HTTP/1.1 400\n",
    ]
      .map((reply): [string, undefined] => [reply, undefined]),
  ];
  for (const [reply, expected] of facts) assert.deepEqual(parseSession(reply), expected, reply);
});

const INFO = `Version: 3.5.3
User: alice
Home: /srv/home/alice
Accepted key 0: ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIDemoDemoDemo alice@laptop
Accepted key 1: 
Accepted key 2: # Status: indented comment
Accepted key 3: from="192.0.2.0/24",no-pty ssh-rsa AAAAB3NzaC1yc2EDemo work: key
Status: keyfile /srv/home/alice/.ssh/authorized_keys : OK
`;

Deno.test("parseUserInfo() reads home and keys unchanged", () => {
  assert.deepEqual(parseUserInfo(`${INFO}\n`), {
    kind: "known",
    home: "/srv/home/alice",
    keyLines: [
      "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIDemoDemoDemo alice@laptop",
      'from="192.0.2.0/24",no-pty ssh-rsa AAAAB3NzaC1yc2EDemo work: key',
    ],
  });
  assert.deepEqual(parseUserInfo("Version: 2\nStatus: n/a\n"), {
    kind: "known",
    home: undefined,
    keyLines: [],
  });
});

Deno.test("parseUserInfo() reports accounts without access as unknown", () => {
  for (
    const reply of [
      "500 No such user or no home directory found\n",
      "500 Not allowed\n",
      "530 Not logged in: Attempted to select 'root'\n",
    ]
  ) assert.deepEqual(parseUserInfo(reply), { kind: "unknown" }, reply);
  for (
    const reply of ["", "\n", "500\n", "ERROR::no\n", "OK::1\n", "500 a\nAccepted key 0: x\n", "Status\n"]
  ) {
    assert.equal(parseUserInfo(reply), undefined, reply);
  }
});

Deno.test("parseUserInfo() refuses a truncated reply", () => {
  const status = INFO.indexOf("Status: keyfile");
  for (let length = 0; length < status; length++) {
    assert.equal(parseUserInfo(INFO.slice(0, length)), undefined);
  }
});

Deno.test("parseUserInfo() never reads a key as another line", () => {
  const line = fc.string({ unit: CHARACTER }).map((text) => text.replaceAll("\n", ""));
  const forged = fc.constantFrom(
    "Home: /evil",
    "Status: OK",
    "Accepted key 9: evil",
    "\rHome: /evil",
    "\u2028Home: /evil",
  );
  fc.assert(fc.property(fc.array(fc.oneof(line, forged), { maxLength: 8 }), (keys) => {
    const reply = `Version: 1\nHome: /h\n${
      keys.map((key, i) => `Accepted key ${i}: ${key}\n`).join("")
    }Status: OK\n\n`;
    const info = parseUserInfo(reply);
    assert(info?.kind === "known");
    assert.equal(info.home, "/h");
    const expected = keys.map((key) => key.endsWith("\r") ? key.slice(0, -1) : key);
    assert.deepEqual(info.keyLines, expected.filter((key) => key !== "" && !key.startsWith("#")));
  }));
});

Deno.test("parsers never throw, for any text", () => {
  const piece = fc.constantFrom(
    ..."OK::|ERROR::|500 |\n|\r\n|Version: |Status:|Accepted key 1: |64434|x".split("|"),
  );
  const text = fc.oneof(fc.string(), fc.array(piece, { maxLength: 12 }).map((parts) => parts.join("")));
  fc.assert(fc.property(text, (reply) => {
    const session = parseSession(reply);
    if (session?.kind === "expected") assert.equal(reply.trimEnd(), `OK::${session.port}`);
    const info = parseUserInfo(reply);
    if (info?.kind === "known") assert(reply.includes("Status:"));
    const ping = parsePing(reply);
    if (ping !== undefined) assert(reply.includes(ping.version));
  }));
});
