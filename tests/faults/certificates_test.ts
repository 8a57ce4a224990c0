/** Certificates of impostors, and an empty truststore: whom the service trusts then, and what it logs. */
import assert from "node:assert/strict";
import { createPrivateKey, X509Certificate } from "node:crypto";
import { startLyingServer } from "../attack/lying_tls_server.ts";
import { createAuthority, type Credential } from "../pki/authority.ts";
import { ALICE, runService, settled } from "../system/running_service.ts";
import { runAuthserver } from "../system/service_process.ts";
import { causeIn, note } from "./fault_table.ts";

const authority = createAuthority({ subject: "CN=Demo CA,O=Demo,C=EU" });
const subject = "CN=UFTPD,O=Demo,C=EU";
const genuine = authority.issue({ subject });
const forged = authority.impostor().issue({ subject });
const POST = { as: ALICE, body: { serverPath: "" } };
const SECTION = "Certificates";

const LIES: readonly (readonly [string, Credential, Credential])[] = [
  ["presents a forged certificate with our authority's name but without its signature", forged, forged],
  ["presents a daemon's certificate without its key", genuine, forged],
];
for (const [what, { certificate }, { key }] of LIES) {
  Deno.test(`an impostor that ${what} receives nothing, and other daemons serve`, async () => {
    await using liar = await startLyingServer({
      chain: [new X509Certificate(certificate).raw],
      key: createPrivateKey(key),
      version: "TLSv1.3",
    });
    await using system = await runService({
      authority,
      servers: { HPC: [{}], LIAR: [{}] },
      properties: {
        "authservice.server.LIAR.commandHost": "127.0.0.1",
        "authservice.server.LIAR.commandPort": String(liar.port),
      },
    });
    await settled(system);
    const reply = await system.ask("/rest/auth/LIAR", POST);
    const { code } = reply.json();
    assert.equal(reply.status, 503, reply.text);
    const line = await system.logged(/daemon is down server=LIAR /);
    assert.equal((await system.ask("/rest/auth/HPC", POST)).status, 200);
    assert.match(liar.heard(), /^(?:END\n)*$/, "no order, no account");
    note({
      section: SECTION,
      fault: `an impostor of a daemon ${what}`,
      caller: `POST ${reply.status} \`${code}\`; 200 from other servers`,
      log: causeIn(line),
      after: "the service sent it nothing",
    });
  });
}

Deno.test("a server with the daemon's own certificate and key receives requests", async () => {
  await using daemon = await startLyingServer({
    chain: [new X509Certificate(genuine.certificate).raw],
    key: createPrivateKey(genuine.key),
    version: "TLSv1.3",
  });
  await using system = await runService({
    authority,
    servers: { LIAR: [{}] },
    properties: {
      "authservice.server.LIAR.commandHost": "127.0.0.1",
      "authservice.server.LIAR.commandPort": String(daemon.port),
    },
  });
  await system.ask("/rest/auth/LIAR", POST);
  assert.match(daemon.heard(), /request-type=/);
});

Deno.test("with an empty truststore no service starts, and a running one keeps its last good truststore", async () => {
  const every = { "container.security.truststore.directoryLocations.1": "{folder}/conf/ca*.pem" };
  await using system = await runService({ authority, properties: every });
  await settled(system);
  const trusted = await Deno.readTextFile(`${system.folder}/conf/ca.pem`);
  await Deno.remove(`${system.folder}/conf/ca.pem`);
  const before = system.log.length;
  await system.service.reload();
  await system.logged(/stays/, before);
  assert.equal((await system.ask("/rest/auth/HPC", POST)).status, 200, "the daemon is trusted as before");
  const other = runAuthserver(["serve", "--config", system.main]);
  assert.equal(await other.ended, 78);
  assert.match(
    other.printed,
    /error: .*container\.properties:\d+: container\.security\.truststore\.\S+: expected at least one trusted certificate/,
  );
  await system.replace("conf/ca.pem", trusted);
  await system.logged(/configuration reloaded/, before);
  note({
    section: SECTION,
    fault: "the truststore is empty",
    caller: "nothing: the old truststore stays in use until the file is usable; a new start fails",
    log: "a start fails, a reload keeps the old state: `expected at least one trusted certificate`",
    after: "the service reads the truststore as soon as it is usable",
  });
});
