/** Webhooks and mail of a running service: failures of the receiver, a crash, and reports to operators. */
import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { inspect } from "../../src/command/diagnosis/inspect.ts";
import { runCommand } from "../../src/command/run_command.ts";
import { corePermissions } from "../../src/workers/permissions.ts";
import { recordedIo } from "../command/recorded_io.ts";
import { until } from "../fixtures/deadline.ts";
import { startHttpsServer } from "../identity_provider/https_server.ts";
import { startMailServer } from "../notify/mail_server.ts";
import { createAuthority } from "../pki/authority.ts";
import { ask } from "./ask.ts";
import { ALICE, ALICE_DN, MAP } from "./running_service.ts";
import { runAuthserver } from "./service_process.ts";
import { createSharingSite, EVERYBODY } from "./sharing/sharing_system.ts";

const SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

const authority = createAuthority({ subject: "CN=Demo CA,O=Demo,C=EU" });
const credential = authority.issue({ subject: "CN=receiver", names: ["localhost"] });

async function createNotifyingSite() {
  const state = { status: 500 };
  const receiver = await startHttpsServer(
    credential,
    (_request, response) => response.writeHead(state.status).end(),
  );
  const relay = await startMailServer({ credential, login: { user: "uftp", password: "relay-pass" } });
  const site = await createSharingSite({
    authority,
    map: { [ALICE_DN]: { ...MAP[ALICE_DN], mail: "alice@example.org" } },
    properties: {
      "notify.webhook.url": `${receiver.origin}/hook`,
      "notify.webhook.secretFile": "{folder}/conf/webhook-secret",
      "share.mail.relay": `smtp://localhost:${relay.port}`,
      "share.mail.from": "uftp@example.org",
      "share.mail.user": "uftp",
      "share.mail.passwordFile": "{folder}/conf/mail-password",
    },
    files: { "conf/webhook-secret": `${SECRET}\n`, "conf/mail-password": "relay-pass\n" },
  });
  return {
    ...{ site, receiver, relay, state },
    async [Symbol.asyncDispose]() {
      await site[Symbol.asyncDispose]();
      await receiver[Symbol.asyncDispose]();
      await relay[Symbol.asyncDispose]();
    },
  };
}

async function start(main: string) {
  const service = runAuthserver(["serve", "--config", main]);
  const [, port] = await service.prints(/service started .*port=(\d+)/);
  await service.prints(/Server started/);
  const status = async () => {
    const io = recordedIo();
    await runCommand(["status", "--json", "--config", main], io);
    return JSON.parse(io.out);
  };
  return { service, port, status };
}

Deno.test("webhooks arrive in order and signed, even after the receiver failed and the service was killed", async () => {
  await using setting = await createNotifyingSite();
  const { site, receiver, state } = setting;
  const first = await start(site.main);
  const send = (path: string, question: Parameters<typeof ask>[2]) =>
    ask(`https://localhost:${first.port}${path}`, site.authority.certificate, { as: ALICE, ...question });
  const body = { path: `${site.data}/d/`, user: EVERYBODY, access: "DROP", notify: true };
  const made = await send("/rest/share/HPC", { body });
  assert.equal(made.status, 201, made.text);
  const [id = ""] = /[^/]+$/.exec(made.headers.location ?? "") ?? [];
  assert.match((await send(`/rest/share/HPC/${id}`, {})).text, /"notify": ?true/);
  const put = await send(`/rest/access/HPC/${id}/new.txt`, { method: "PUT", body: { some: "text" } });
  assert.equal(put.status, 201, put.text);
  const page = await ask(`https://localhost:${first.port}/shares/HPC/${id}`, site.authority.certificate, {
    as: ALICE,
  });
  assert.match(page.text, /alice@example\.org/);
  await until(() => receiver.seen.length > 0);
  const webhook = async () =>
    (await first.status()).sinks.find(({ name }: { readonly name: string }) => name === "webhook");
  await until(async () => (await webhook())?.state === "failing");
  assert.match((await webhook()).reason, /^localhost:\d+: .*status 500/);
  first.service.kill("SIGKILL");
  await first.service.ended;

  state.status = 204;
  const failed = receiver.seen.length;
  const second = await start(site.main);
  const got = () => receiver.seen.slice(failed).map(({ body }) => JSON.parse(body));
  await until(() => got().some(({ type }) => type === "files.arrived"));
  const ofShare = got().filter(({ data }) => data.share !== undefined);
  assert.deepEqual(ofShare.map(({ type }) => type), ["share.created", "files.arrived"]);
  assert.deepEqual([ofShare[1].data.name, ofShare[1].data.path], ["new.txt", `${site.data}/d/`]);
  assert.doesNotMatch(JSON.stringify(got()), new RegExp(id), "the id is the link");
  for (const { headers, body } of receiver.seen) {
    const signed = `${headers["webhook-id"]}.${headers["webhook-timestamp"]}.${body}`;
    const key = Uint8Array.fromBase64(SECRET.slice("whsec_".length));
    assert.equal(
      headers["webhook-signature"],
      `v1,${createHmac("sha256", key).update(signed).digest("base64")}`,
    );
  }
  const ids = receiver.seen.filter(({ body }) => body.includes('"share.created"')).map(({ headers }) =>
    headers["webhook-id"]
  );
  assert.equal(new Set(ids).size, 1, "each attempt has the same id");

  const io = recordedIo();
  assert.equal(await runCommand(["share", "remove", id, "--config", site.main], io), 0, io.err);
  assert.equal(
    await runCommand(["ban", "add", "--user", "eve", "--for", "1h", "--config", site.main], io),
    0,
    io.err,
  );
  await until(() => ["share.ended", "ban.created"].every((type) => got().some((each) => each.type === type)));
  second.service.kill("SIGTERM");
  assert.equal(await second.service.ended, 0);
});

Deno.test("check --online tests receiver and relay, sends nothing, and reports errors", async () => {
  await using setting = await createNotifyingSite();
  const { site, relay, receiver, state } = setting;
  state.status = 405;
  const check = async () => {
    const io = recordedIo();
    await runCommand(["check", "--online", "--json", "--config", site.main], io);
    const { online }: { online: readonly { system: string; ok: boolean; found: string; fix?: string }[] } =
      JSON.parse(io.out);
    return online.filter(({ system }) => system.startsWith("notification "));
  };
  const [webhook, mail] = await check();
  assert.deepEqual([webhook?.system, webhook?.ok, mail?.system, mail?.ok], [
    ...["notification webhook", true],
    ...["notification mail", true],
  ]);
  assert.match(webhook?.found ?? "", /certificate valid.*answers GET with status 405/);
  assert.match(mail?.found ?? "", /takes mail from uftp@example\.org; nothing was sent/);
  assert.deepEqual([relay.mails, receiver.seen.map(({ method }) => method)], [[], ["GET"]]);
  relay.refusal = { at: "login", code: 535 };
  state.status = 503;
  const wrong = await check();
  assert.deepEqual(wrong.map(({ ok, fix }) => [ok, fix === undefined]), [[false, false], [false, false]]);
  assert.match(wrong[1]?.found ?? "", /AUTH PLAIN with 535/);
});

Deno.test("notifications permit the core to connect to receiver and relay only", async () => {
  await using setting = await createNotifyingSite();
  const { site, relay, receiver } = setting;
  const { snapshot } = await inspect(site.main);
  assert(snapshot !== undefined);
  const resolve = () => Promise.resolve([]);
  const { net } = await corePermissions(snapshot.config, resolve);
  const without = await corePermissions({ ...snapshot.config, notifications: [] }, resolve);
  const added = (net || []).filter((each) => !(without.net || []).includes(each));
  assert.deepEqual(added.sort(), [`localhost:${receiver.port}`, `localhost:${relay.port}`].sort());
});
