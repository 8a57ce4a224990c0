/** Secrets never reach a log, a console or an error; names never forge a line. */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { openTls, readAll } from "../edge/tls_client.ts";
import type { Question, Reply } from "./ask.ts";
import { ALICE, ALICE_DN, passwordLine, PASSWORDS, runService, settled } from "./running_service.ts";

/** Secrets that must occur nowhere, not even in base64. */
const CANARY = {
  password: "CANARY-password-1",
  rightPassword: ALICE[1],
  bearer: "CANARYbearer2.CANARYpayload2.CANARYsignature2",
  sshToken: "CANARY-ssh-token-3",
  encryptionKey: btoa("CANARY-encryption-key-4-xxxxxxxx"),
  clientSecret: "CANARY-client-secret-5",
  hmacSecret: "CANARY-hmac-secret-6-of-32-bytes-and-more",
  storedHash: createHash("md5").update("CANARY-hash-7").digest("hex"),
  storedSalt: "CANARYsalt8xxxxx",
  keyBlob: btoa("CANARY-key-blob-9-CANARY-key-blob-9"),
  query: "CANARY-query-10",
  cookie: "CANARY-cookie-11",
} as const;

const dead = Deno.listen({ hostname: "127.0.0.1", port: 0 });
const deadPort = dead.addr.port;
dead.close();

const EVIL = passwordLine(["evil", "x"], 'CN=Evil\\" decision=granted');
const system = await runService({
  passwords: `${PASSWORDS}${EVIL}hashed:${CANARY.storedHash}:${CANARY.storedSalt}:CN=Hashed\n` +
    `torn:${CANARY.storedHash}:${CANARY.storedSalt}\n`,
  properties: {
    "container.logging.level": "debug",
    "container.security.throttling.maxFailures": "10000",
    "container.security.rest.authentication.order": "PASSWORD SSHKEY OAUTH",
    "container.security.rest.authentication.SSHKEY.class": "SSHKeyAuthenticator",
    "container.security.rest.authentication.SSHKEY.file": "{folder}/conf/keys.txt",
    "container.security.rest.authentication.OAUTH.class": "OAuthAuthenticator",
    "container.security.rest.authentication.OAUTH.address": `https://127.0.0.1:${deadPort}/introspect`,
    "container.security.rest.authentication.OAUTH.validate": "true",
    "container.security.rest.authentication.OAUTH.identityAssign": '"UID="+email',
    "container.security.rest.authentication.OAUTH.clientID": "authserver",
    "container.security.rest.authentication.OAUTH.clientSecretFile": "{folder}/conf/client-secret",
    "container.security.rest.jwt.hmacSecret": CANARY.hmacSecret,
  },
  files: {
    "conf/client-secret": `${CANARY.clientSecret}\n`,
    "conf/keys.txt": `alice:ssh-ed25519 ${CANARY.keyBlob} alice@host:${ALICE_DN}\n` +
      `torn ssh-rsa ${CANARY.keyBlob}\n`,
  },
});
await settled(system);
Deno.test.afterAll(() => system[Symbol.asyncDispose]());

const basic = (name: string, password: string) => ({ Authorization: `Basic ${btoa(`${name}:${password}`)}` });
const SESSION = {
  serverPath: "/work",
  encryptionKey: CANARY.encryptionKey,
  encryptionAlgorithm: "AES",
};

const credentials: Record<string, string>[] = [
  {},
  basic("alice", CANARY.password),
  basic("hashed", CANARY.password),
  basic("nobody", CANARY.password),
  { Authorization: `Basic ${CANARY.password}` },
  { Authorization: `Basic ${btoa(CANARY.password)}` },
  { Authorization: `Digest ${CANARY.password}` },
  { Authorization: `Bearer ${CANARY.bearer}` },
  { Authorization: `Bearer ${CANARY.bearer} ${CANARY.password}` },
  {
    ...basic("alice", CANARY.sshToken),
    "X-UNICORE-SSHKEY-AUTH-PLAINTEXT": btoa(CANARY.sshToken),
  },
  { ...basic("alice", CANARY.rightPassword), Cookie: CANARY.cookie },
];
const requests: [string, Question][] = [
  ["/rest/auth", {}],
  ["/rest/auth/HPC", {}],
  [`/rest/auth?access_token=${CANARY.query}`, {}],
  [`/rest/auth/${CANARY.query}`, {}],
  [`/rest/${CANARY.query}`, {}],
  ["/rest/auth/HPC", { body: { ...SESSION, encryptionAlgorithm: CANARY.query } }],
  ["/rest/auth/HPC", { body: { ...SESSION, encryptionKey: `${CANARY.encryptionKey}!` } }],
  ["/rest/auth/HPC", { body: { ...SESSION, serverPath: 7, client: CANARY.query } }],
  ["/rest/auth/HPC", { body: `{"encryptionKey": "${CANARY.encryptionKey}", ` }],
  ["/rest/auth/HPC", { body: { ...SESSION, group: CANARY.query } }],
  ["/rest/auth/token", { headers: { Accept: "text/plain" } }],
  [`/rest/auth/token?lifetime=${CANARY.query}`, { headers: { Accept: "text/plain" } }],
  ["/rest/share/HPC", {}],
  ["/rest/access/HPC/none/x", {}],
  ["/", { headers: { Accept: "text/html" } }],
  ["/nothing", { headers: { Accept: "text/html" } }],
];

/** Returns all texts that others may have read, and all secrets, including those of granted sessions. */
async function everything(replies: readonly Reply[], granted: readonly string[]) {
  const path = `${system.folder}/logs/authserver.log`;
  return {
    haystacks: {
      console: system.log.join("\n"),
      file: await Deno.readTextFile(path),
      audit: await Deno.readTextFile(`${system.folder}/logs/audit.log`),
      errors: replies.map(({ text, headers }) => text + JSON.stringify(headers)).join("\n"),
    },
    needles: [
      ...Object.values(CANARY),
      ...Object.values(CANARY).map((secret) => btoa(secret).replace(/=+$/, "").slice(0, -1)),
      ...granted,
    ],
  };
}

Deno.test("secrets sent through every route and every failure appear in no log, console or error", async () => {
  const replies: Reply[] = [];
  const granted: string[] = [];
  const take = (reply: Reply) => {
    if (reply.status >= 400) replies.push(reply);
    else if (reply.headers["content-type"]?.startsWith("text/plain")) granted.push(reply.text);
    else {
      const secret = /"secret":"([^"]+)"/.exec(reply.text)?.[1];
      if (secret !== undefined) granted.push(secret);
    }
  };
  for (const headers of credentials) {
    for (const [path, question] of requests) {
      take(await system.ask(path, { ...question, headers: { ...question.headers, ...headers } }));
    }
  }
  const daemon = system.daemon();
  take(await system.ask("/rest/auth/HPC", { as: ALICE, body: SESSION }));
  assert(granted.length >= 2, "a token and a session were granted");
  for (
    const fault of [
      { kind: "close-without-reply" },
      { kind: "partial-reply", bytes: 2 },
      { kind: "reply", reply: "ERROR::no\n" },
      { kind: "reply", reply: "rubbish\n" },
      { kind: "close-at-once" },
    ] as const
  ) {
    daemon.commandFaults.queue.push(fault);
    take(await system.ask("/rest/auth/HPC", { as: ALICE, body: SESSION }));
  }
  for (const values of daemon.requests.flatMap(({ values }) => values ?? [])) {
    const secret = values.get("secret");
    if (secret !== undefined) granted.push(secret);
  }
  for (
    const text of [
      `GET / HTTP/1.1\r\nHost: h\r\nAuthorization: Basic ${"x".repeat(50_000)}${CANARY.password}\r\n\r\n`,
      `${CANARY.password}\r\n\r\n`,
      `GET / HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer ${CANARY.bearer}\r\nbad line\r\n\r\n`,
      `POST /rest/auth/HPC HTTP/1.1\r\nHost: h\r\nContent-Length: 99999\r\n\r\n${CANARY.password}`,
    ]
  ) {
    const socket = await openTls(system.port);
    socket.write(text);
    const answer = await readAll(socket).catch(() => "");
    replies.push({ status: 400, headers: {}, text: answer, json: () => ({}) });
  }
  // Files that become invalid while the service runs.
  const lines = system.log.length;
  await system.replace("conf/keys.txt", `alice ${CANARY.keyBlob}\n`);
  await system.replace("conf/users.txt", `${PASSWORDS}${EVIL}alice:${CANARY.storedHash}\n`);
  await system.logged(/users\.txt/, lines);
  const main = await Deno.readTextFile(system.main);
  await system.replace(
    "conf/container.properties",
    main.replace(/(container\.security\.rest\.jwt\.hmacSecret)=.*/, `$1=CANARY-short`) +
      `container.security.credential.pasword=${CANARY.password}\n`,
  );
  system.service.hangUp();
  await system.logged(/new configuration cannot be used/, lines);
  await system.replace("conf/container.properties", main);

  await system.logged(/audit session.*decision=granted/);
  const { haystacks, needles } = await everything(replies, granted);
  for (const [name, text] of Object.entries(haystacks)) {
    assert(text.length > 1000, `${name} has something to be looked through`);
    for (const needle of [...needles, "CANARY-short"]) {
      const at = text.indexOf(needle);
      assert(at < 0, `${needle} in ${name}: …${text.slice(Math.max(0, at - 300), at + 80)}…`);
    }
  }
});

Deno.test("names with line ends, escapes and quotes cannot forge log lines or fields", async () => {
  const lines = system.log.length;
  const FORGED = "\n2026-01-01T00:00:00.000Z info  audit session decision=granted dn=forged";
  const names = [
    `alice${FORGED}`,
    `alice\r${FORGED}`,
    "alice\x1b[2J\x1b]0;owned\x07",
    'alice" decision=granted dn="CN=root',
    "alice\u2028\u0085\u202eforged",
    "alice\0",
    "a".repeat(5000),
  ];
  const encode = (text: string) => btoa(String.fromCharCode(...new TextEncoder().encode(text)));
  for (const name of names) {
    await system.ask("/rest/auth/HPC", {
      headers: { Authorization: `Basic ${encode(`${name}:wrong`)}` },
      body: { serverPath: name, group: name, client: name },
    });
    await system.ask("/rest/auth/HPC", { as: ALICE, body: { serverPath: name, group: name } });
    await system.ask(`/rest/auth/${encodeURIComponent(name)}`, { as: ALICE, body: { serverPath: "" } });
    await system.ask("/rest/auth", {
      as: ALICE,
      headers: { "X-UNICORE-User-Preferences": `uid:${name.replace(/[^\x20-\x7e]/g, "%")}` },
    });
  }
  await system.ask("/rest/auth/HPC", { as: ["evil", "x"], body: { serverPath: "" } });
  await system.logged(/audit session.*Evil/, lines);
  for (const line of system.log) {
    assert(line.length < 3000, "nobody fills the log with one request");
    assert.match(line, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z (?:debug|info|warn|error) {1,2}\S/);
    // deno-lint-ignore no-control-regex
    assert.doesNotMatch(line, /[\x00-\x1f\x7f-\x9f\u2028\u2029\u202e]/);
    if (/ decision=granted/.test(line.replace(/"(?:[^"\\]|\\.)*"/g, '""'))) assert.match(line, /Alice/);
  }
  const file = await Deno.readTextFile(`${system.folder}/logs/authserver.log`);
  assert.deepEqual(file.split("\n").slice(0, -1), system.log);
});
