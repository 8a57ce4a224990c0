/**
 * Malicious uploads of OpenSSH certificates: concurrent, repeated, too long, of other kinds, by other users.
 */
import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { certificateLine } from "../authentication/ssh_key/certificate/certificates.ts";
import { authenticatorProperties, userToken } from "../system/every_method.ts";
import { runService } from "../system/running_service.ts";

const system = await runService({
  properties: {
    "container.security.rest.authentication.order": "SSHKEY",
    "persistence.directory": "{folder}",
    // The throttle counts refused uploads as guesses; this file does not test that.
    "container.security.throttling.maxFailures": "1000",
    ...authenticatorProperties("SSHKEY", {
      certificateAuthorities: "{folder}/conf/ssh_ca.pub",
      certificateIdentity: "CN=%principal%,OU=ssh-certificates",
    }),
  },
  map: JSON.stringify({ "CN=ann,OU=ssh-certificates": { role: "user", xlogin: "alice" } }),
  files: { "conf/ssh_ca.pub": `${certificateLine("ca_ed25519")}\n` },
});
Deno.test.afterAll(() => system[Symbol.asyncDispose]());

const LINE = certificateLine("for_ever");
const PATH = "/rest/auth/ssh-certificate";

function show(body: string | Uint8Array, type = "text/plain", method = "PUT") {
  const headers = { "Content-Type": type, "Content-Length": String(Buffer.byteLength(body)) };
  return system.ask(PATH, { method, body, headers });
}

const forget = () => system.ask(PATH, { method: "DELETE", body: LINE });

async function signIn(key = "user_ed25519", user = "ann"): Promise<number> {
  const headers = { Authorization: `Bearer ${userToken(user, key)}` };
  return (await system.ask("/rest/auth", { headers })).status;
}

Deno.test("a certificate uploaded twenty times at once is stored once, and only its key signs in", async () => {
  const replies = await Promise.all(Array.from({ length: 20 }, () => show(LINE)));
  assert.deepEqual(new Set(replies.map(({ status }) => status)), new Set([200]));
  assert.equal(await signIn(), 200);
  assert.equal(
    await signIn("other_ed25519"),
    401,
    "whoever has the text of another's certificate has not the key",
  );
  assert.equal(await signIn("user_ed25519", "bob"), 401);
  assert.equal((await forget()).status, 204);
  assert.equal((await forget()).status, 404);
  assert.equal(await signIn(), 401);
});

Deno.test("concurrent uploads and deletions of a certificate leave it either usable or gone", async () => {
  const both = Array.from({ length: 30 }, (_, i) => i % 2 === 0 ? show(LINE) : forget());
  const statuses = (await Promise.all(both)).map(({ status }) => status);
  statuses.forEach((status) => assert([200, 204, 404].includes(status), `${status}`));
  await show(LINE);
  assert.equal(await signIn(), 200);
  assert.equal((await forget()).status, 204);
  assert.equal(await signIn(), 401);
});

const [, blob = ""] = LINE.split(" ");
const SHOWN: readonly (readonly [what: string, body: string | Uint8Array, type?: string])[] = [
  ["nothing", ""],
  ["blanks", " ".repeat(60_000)],
  ["line feeds", "\n".repeat(60_000)],
  ["a line that is too long", `${LINE}${" x".repeat(32_000)}`],
  ["a body beyond 64 KiB", `${LINE} ${"x".repeat(70_000)}`],
  ["a certificate of 60 KiB", `ssh-ed25519-cert-v01@openssh.com ${"A".repeat(60_000)}`],
  ["lengths that lie", `ssh-ed25519-cert-v01@openssh.com ${Buffer.alloc(3_000, 0x7f).toString("base64")}`],
  ["lengths that are all zero", `ssh-ed25519-cert-v01@openssh.com ${Buffer.alloc(3_000).toString("base64")}`],
  ["half of a certificate", LINE.slice(0, LINE.length / 2)],
  ["two certificates", `${LINE}\n${certificateLine("one_day")}`],
  ["a certificate after options", `command="true" ${LINE}`],
  ["a certificate of another type", LINE.replace("ssh-ed25519-cert", "ssh-rsa-cert")],
  ["a certificate by the type of its key", `ssh-ed25519 ${blob}`],
  ["a certificate of a host", certificateLine("for_host")],
  ["a certificate of another authority", certificateLine("by_other")],
  ["the authority's own key", certificateLine("ca_ed25519")],
  ["bytes that are not text", new Uint8Array([0xff, 0xfe, 0x00, 0x80])],
  ["text with NUL", LINE.replace(" ", "\0")],
  [
    "a private key",
    "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjEAAAAA\n-----END OPENSSH PRIVATE KEY-----",
  ],
  ["JSON", JSON.stringify({ certificate: LINE }), "application/json"],
  ["a form", new URLSearchParams({ line: LINE }).toString(), "application/x-www-form-urlencoded"],
];
for (const [what, body, type] of SHOWN) {
  Deno.test(`${what} instead of a certificate is refused, and nobody signs in`, async () => {
    const { status, text } = await show(body, type);
    assert([400, 403, 413, 415].includes(status), `${status} ${text}`);
    assert.doesNotMatch(text, /PRIVATE KEY|b3BlbnNzaC1/, "what was shown is not repeated");
    assert.equal(await signIn(), 401);
  });
}

Deno.test("only the valid one of sixty certificates uploaded at once is accepted", async () => {
  const replies = await Promise.all(
    Array.from({ length: 60 }, (_, i) => show(i === 30 ? LINE : certificateLine("by_other"))),
  );
  assert.deepEqual(replies.flatMap(({ status }, i) => status === 200 ? [i] : []), [30]);
  assert.equal(await signIn(), 200);
});
