import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { Undeliverable } from "../../../src/notify/destination.ts";
import { Mail } from "../../../src/notify/mail/mail.ts";
import { RemoteUnavailable } from "../../../src/outgoing/remote_unavailable.ts";
import { inTime } from "../../fixtures/deadline.ts";
import { tlsOutgoing } from "../../outgoing/tls_outgoing.ts";
import { createAuthority } from "../../pki/authority.ts";
import { type Behaviour, notification, type Receiver, testDestination } from "../conformance.ts";
import { type MailServer, startMailServer } from "../mail_server.ts";

const authority = createAuthority({ subject: "CN=Test CA,O=Site-A" });
const credential = authority.issue({ subject: "CN=relay", names: ["localhost"] });
const LOGIN = { user: "uftp", password: "pass ü" };
const NOW = Date.parse("2026-01-05T10:00:00Z");
const soon = () => AbortSignal.timeout(60_000);

type Form = "smtps" | "StartTLS" | "plain";

function mailTo(
  server: MailServer,
  form: Form,
  { trusted = authority.certificate, login = LOGIN, externalUrl = "https://auth.example.org:9000" } = {},
) {
  const config = {
    kind: "mail",
    name: "mail",
    relay: `${form === "smtps" ? "smtps" : "smtp"}://localhost:${server.port}`,
    startTls: form !== "plain",
    from: "uftp@example.org",
    ...login,
  };
  const outgoing = tlsOutgoing([trusted]);
  return new Mail(config, { outgoing, externalUrl, clock: () => NOW });
}

const started = (form: Form) =>
  startMailServer({
    credential: form === "plain" ? undefined : credential,
    secure: form === "smtps",
    login: LOGIN,
  });

const REFUSALS: Readonly<Record<Behaviour, MailServer["refusal"]>> = {
  accept: undefined,
  fail: { at: "recipient", code: 450 },
  silence: { at: "message", code: "silence" },
  "lose the answer": undefined,
};

async function receiver(form: Form): Promise<Receiver> {
  const server = await started(form);
  let [behaviour, open] = ["accept" as Behaviour, true];
  return {
    destination: mailTo(server, form),
    get received() {
      return server.mails.map(({ text }) => /^Message-ID: <(.+)@example\.org>/m.exec(text)?.[1] ?? "none");
    },
    get behaviour() {
      return behaviour;
    },
    set behaviour(to) {
      behaviour = to;
      server.refusal = REFUSALS[to];
      server.losesAnswers = to === "lose the answer";
    },
    async [Symbol.asyncDispose]() {
      if (open) await server[Symbol.asyncDispose]();
      open = false;
    },
  };
}

for (const form of ["smtps", "StartTLS", "plain"] as const) {
  testDestination(`Mail over ${form}`, () => receiver(form));

  Deno.test(`Mail over ${form} sends a digest in plain text after a login, encrypted if so configured`, async () => {
    await using server = await started(form);
    const files = [notification("m-1", "a.txt"), notification("m-2", "Grüße.txt")];
    await mailTo(server, form).deliver(files, soon());
    const [{ from, to, user, encrypted, text } = assert.fail("no mail")] = server.mails;
    assert.deepEqual([from, to, user, encrypted], [
      "uftp@example.org",
      ["ann@example.org"],
      "uftp",
      form !== "plain",
    ]);
    const [head = "", body = ""] = text.split("\r\n\r\n", 2);
    assert.deepEqual(head.split("\r\n"), [
      "From: <uftp@example.org>",
      "To: <ann@example.org>",
      "Subject: 2 files have arrived",
      "Date: Mon, 05 Jan 2026 10:00:00 +0000",
      "Message-ID: <m-1@example.org>",
      "Auto-Submitted: auto-generated",
      "MIME-Version: 1.0",
      "Content-Type: text/plain; charset=utf-8",
      "Content-Transfer-Encoding: base64",
    ]);
    assert.equal(
      Buffer.from(body, "base64").toString(),
      [
        "2 files have arrived in /data/drop/ on HPC:",
        "",
        "  a.txt (3 bytes)",
        "  Grüße.txt (3 bytes)",
        "",
        "You asked for this mail when you shared the directory. To get no more, change the share:",
        "https://auth.example.org:9000/shares",
        "",
      ].join("\r\n"),
    );
  });
}

Deno.test("Mail names fifty files, and counts the others", async () => {
  await using server = await started("plain");
  await mailTo(server, "plain").deliver(
    Array.from({ length: 60 }, (_, i) => notification("m", `f${i}`)),
    soon(),
  );
  const text = Buffer.from(server.mails[0]?.text.split("\r\n\r\n", 2)[1] ?? "", "base64").toString();
  assert.equal(text.match(/^ {2}f\d+/gm)?.length, 50);
  assert.match(text, /^ {2}and 10 more\r$/m);
});

Deno.test("Mail lets no name inject headers, commands or further lines", async () => {
  await using server = await started("plain");
  const evil = "x\r\nBcc: eve@example.net\r\n.\r\nMAIL FROM:<eve@example.net>\r\n\u202e";
  const hostile = {
    ...notification("m-1", evil),
    data: { server: evil, path: evil, name: evil, bytes: evil },
  };
  await mailTo(server, "plain").deliver([hostile], soon());
  const [{ to, text } = assert.fail("no mail"), ...more] = server.mails;
  assert.deepEqual([to, more], [["ann@example.org"], []]);
  assert.doesNotMatch(text, /eve@/);
  const body = Buffer.from(text.split("\r\n\r\n", 2)[1] ?? "", "base64").toString();
  assert.doesNotMatch(body, /^(?:Bcc|MAIL|\.)|\u202e/m);
});

for (
  const address of [
    "",
    "ann",
    "ann@example.org\r\nRCPT TO:<eve@example.net>",
    "ann@example.org>",
    "a b@example.org",
    '"a"@example.org',
    "ann@@example.org",
    "ann@-example.org",
    "ann@exa_mple.org",
    "änn@example.org",
    "ann@[192.0.2.1]",
    `${"a".repeat(65)}@example.org`,
    "ann..b@example.org",
  ]
) {
  Deno.test(`Mail is not sent to ${JSON.stringify(address)}`, async () => {
    await using server = await started("plain");
    const refused = mailTo(server, "plain").deliver([{ ...notification("m-1"), mailTo: address }], soon());
    await assert.rejects(refused, Undeliverable);
    assert.deepEqual(server.mails, []);
  });
}

for (const at of ["recipient", "message"] as const) {
  Deno.test(`Mail treats a code of 500 or above for the ${at} as a permanent failure`, async () => {
    await using server = await started("plain");
    server.refusal = { at, code: 550 };
    await assert.rejects(mailTo(server, "plain").deliver([notification("m-1")], soon()), Undeliverable);
  });
}

Deno.test("Mail treats a wrong password as a failure of the relay, not of the message", async () => {
  await using server = await started("StartTLS");
  const mail = mailTo(server, "StartTLS", { login: { ...LOGIN, password: "not-this" } });
  await assert.rejects(
    mail.deliver([notification("m-1")], soon()),
    (error) =>
      error instanceof RemoteUnavailable && error.reason.includes("AUTH PLAIN") &&
      !error.message.includes("not-this"),
  );
  await assert.rejects(mail.probe(soon()), RemoteUnavailable);
});

for (const form of ["smtps", "StartTLS"] as const) {
  Deno.test(`Mail over ${form} sends neither password nor message to a relay without a trusted certificate`, async () => {
    await using server = await started(form);
    const mail = mailTo(server, form, { trusted: authority.impostor().certificate });
    await assert.rejects(mail.deliver([notification("m-1")], soon()), RemoteUnavailable);
    assert.deepEqual(server.mails, []);
  });
}

/** Starts a relay that gives these answers in order. `heard()` returns the commands that it got. */
function answering(answers: readonly string[]): { readonly server: MailServer; heard(): Promise<string[]> } {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const heard = (async () => {
    const connection = await listener.accept();
    const [bytes, heard] = [new Uint8Array(4096), [] as string[]];
    for (const answer of answers) {
      await connection.write(new TextEncoder().encode(`${answer}\r\n`));
      const length = await connection.read(bytes).catch(() => null);
      if (length === null) break;
      heard.push(new TextDecoder().decode(bytes.subarray(0, length)));
    }
    connection.close();
    listener.close();
    return heard;
  })();
  return { server: { port: listener.addr.port } as MailServer, heard: () => heard };
}

for (
  const [externalUrl, name] of [
    ["https://auth.example.org:9000", "auth.example.org"],
    ["https://192.0.2.1:9000", "[192.0.2.1]"],
    ["https://[2001:db8::1]", "[IPv6:2001:db8::1]"],
  ] as const
) {
  Deno.test(`Mail of ${externalUrl} introduces itself as ${name}`, async () => {
    const relay = answering(["220 x", "500 no"]);
    await assert.rejects(
      mailTo(relay.server, "plain", { externalUrl }).deliver([notification("m-1")], soon()),
      RemoteUnavailable,
    );
    assert.equal((await relay.heard())[0], `EHLO ${name}\r\n`);
  });
}

Deno.test("Mail sends each command only after the answer to the one before", async () => {
  const relay = answering([
    "220 x",
    "250 x",
    "235 in",
    "250 from",
    "250 to",
    "354 go",
    "250 taken",
    "221 bye",
  ]);
  await mailTo(relay.server, "plain").deliver([notification("m-1")], soon());
  const heard = await relay.heard();
  assert.deepEqual(heard.map((text) => text.split(/[ \r]/, 1)[0]), [
    "EHLO",
    "AUTH",
    "MAIL",
    "RCPT",
    "DATA",
    "From:",
    "QUIT",
  ]);
  assert.match(heard[5] ?? "", /\r\n\.\r\n$/);
});

Deno.test("Mail is not sent to a relay that refuses StartTLS or sends data before the handshake", async () => {
  for (const answers of [["220 x", "250 x", "500 no"], ["220 x", "250 x", "220 go\r\n250 injected"]]) {
    const relay = answering(answers);
    await assert.rejects(
      mailTo(relay.server, "StartTLS").deliver([notification("m-1")], soon()),
      RemoteUnavailable,
    );
    assert.deepEqual((await relay.heard()).slice(0, 2), ["EHLO localhost\r\n", "STARTTLS\r\n"]);
  }
});

Deno.test("Mail.probe() logs in and names the sender, and sends nothing", async () => {
  await using server = await started("smtps");
  await mailTo(server, "smtps").probe(soon());
  assert.deepEqual(server.mails, []);
});

Deno.test("mail leaves no connection open that comes after the delivery was given up", async () => {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = listener.addr;
  const given = new AbortController();
  const probe = mailTo({ port } as MailServer, "plain").probe(given.signal);
  given.abort();
  await assert.rejects(probe, RemoteUnavailable);
  const connected = await Promise.race([
    listener.accept(),
    new Promise<undefined>((r) => setTimeout(r, 500)),
  ]);
  if (connected === undefined) return;
  using connection = connected;
  assert.equal(await inTime(connection.read(new Uint8Array(1)), "the end of the connection", 2000), null);
});
