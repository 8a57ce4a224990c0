import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { configurationReference } from "../../bin/docs/configuration_reference.ts";
import { checkOnline } from "../../src/command/diagnosis/check_online.ts";
import { inspectDataFiles } from "../../src/command/diagnosis/inspect_data_files.ts";
import { sections } from "../../src/config/sections.ts";
import { SILENT } from "../../src/logging/logger.ts";
import { formatDiagnostic } from "../../src/model/diagnostic.ts";
import { corePermissions } from "../../src/workers/permissions.ts";
import { loadSnapshot } from "../../src/service/assembly/load_snapshot.ts";
import { createService } from "../../src/service/service.ts";
import { startOidcProvider } from "../identity_provider/oidc_provider.ts";
import { createAuthority } from "../pki/authority.ts";
import { createSite } from "../system/running_service.ts";
import { MORE_KINDS } from "./made_up_kinds.ts";
import { answerWeb } from "../../src/service/mount.ts";

const METHOD = "container.security.rest.authentication.";
const SOURCE = "container.security.attributes.";
const ANN = "CN=Ann,O=Demo,C=EU";

/** A site that uses the kinds that were made up, by their default names. */
async function badgeSite({ badges = `${ANN}\n`, more = {} }: { badges?: string; more?: object } = {}) {
  const authority = createAuthority({ subject: "CN=Demo CA,O=Demo,C=EU" });
  const door = await startOidcProvider(
    authority.issue({ subject: "CN=localhost", names: ["localhost", "127.0.0.1"] }),
  );
  const list = await Deno.makeTempFile({ prefix: "authserver-badges-" });
  await Deno.writeTextFile(list, badges);
  const site = await createSite({
    authority,
    properties: {
      [`${METHOD}order`]: "BADGE",
      [`${METHOD}BADGE.list`]: list,
      [`${METHOD}BADGE.door`]: door.userinfo,
      [`${SOURCE}order`]: "EVERYBODY",
      [`${SOURCE}EVERYBODY.account`]: "shared",
      ...more,
    },
  });
  const { config, snapshot, diagnostics } = await loadSnapshot(site.main, {
    environment: () => undefined,
    kinds: MORE_KINDS,
  });
  return {
    list,
    door: door.userinfo,
    config,
    snapshot,
    diagnostics: diagnostics.map(formatDiagnostic),
    async [Symbol.asyncDispose]() {
      await Promise.all([site, door].map((each) => each[Symbol.asyncDispose]()));
      await Deno.remove(list);
    },
  };
}

Deno.test("a kind that was made up is read as its keys say, with their defaults", async () => {
  await using site = await badgeSite();
  const { list, door } = site;
  assert.deepEqual(site.config?.authentication.authenticators, [
    { kind: "BadgeAuthenticator", name: "BADGE", list, door, floors: 9 },
  ]);
  assert.deepEqual(site.config?.attributes.sources, [
    { kind: "EverybodySource", name: "EVERYBODY", account: "shared" },
  ]);
});

Deno.test("what is wrong with the keys of a kind that was made up is reported", async () => {
  const more = {
    [`${METHOD}BADGE.floors`]: "none",
    [`${METHOD}BADGE.lift`]: "1",
    [`${METHOD}BADGE.dor`]: "2",
  };
  await using site = await badgeSite({ more });
  const found = site.diagnostics.filter((diagnostic) => diagnostic.includes("BADGE."))
    .map((diagnostic) => diagnostic.replace(/^\S+ /, "").replace(METHOD, ""));
  assert.deepEqual(found, [
    "BADGE.floors = none: expected a whole number from 1 to 2147483647 (floors)",
    "BADGE.lift: ignored: everybody takes the stairs",
    `BADGE.dor: unknown key, did you mean ${METHOD}BADGE.door?`,
  ]);
});

Deno.test("the manual has the keys of a kind that was made up", () => {
  const manual = configurationReference(sections(MORE_KINDS));
  assert.match(manual, /^## BadgeAuthenticator: badges of a door \(BADGE\)$/m);
  assert.match(manual, /^\| `\S+<method>\.floors` \| .* \| `9` floors \| How many floors there are\. \|$/m);
  assert.match(manual, /^\| `\S+<source>\.account` \| text \| \*\*required\*\* \|/m);
});

Deno.test("the core may read the files of a kind that was made up, and reach its systems", async () => {
  await using site = await badgeSite();
  const { config, list, door } = site;
  assert(config !== undefined);
  const { read, net } = await corePermissions(config, () => Promise.resolve([]), MORE_KINDS);
  assert(read !== false && read.includes(list));
  assert(net !== false && net.includes(new URL(door).host));
});

Deno.test("a kind that was made up is looked through by check, and tried by check --online", async () => {
  await using site = await badgeSite({ badges: `${ANN}\n`.repeat(10) });
  const { config, snapshot, list, door } = site;
  assert(config !== undefined && snapshot !== undefined);
  const diagnostics = await inspectDataFiles(config, MORE_KINDS);
  assert.deepEqual(diagnostics.map(formatDiagnostic), [`${list}: at most 9 badges`]);
  const findings = await checkOnline(snapshot, { log: SILENT, clock: Date.now, kinds: MORE_KINDS });
  const found = findings.filter(({ system }) => system === "method BADGE");
  assert.deepEqual(found.map(({ address, ok }) => ({ address, ok })), [{ address: door, ok: true }]);
  assert.match(found[0]?.found ?? "", /; answers a request without credentials with status 401$/);
});

Deno.test("a kind that was made up lets users in, gives them attributes, and is on the status page", async () => {
  await using site = await badgeSite();
  const { snapshot, door } = site;
  assert(snapshot !== undefined);
  const parts = { ...snapshot, generation: 1, upSince: 0, port: 0 };
  const service = await createService(parts, { log: SILENT, kinds: MORE_KINDS });
  try {
    const authorization = `Basic ${Buffer.from(`ann:${ANN}`).toString("base64")}`;
    const request = new Request("https://localhost/rest/auth", { headers: { Authorization: authorization } });
    const answer = await answerWeb(service, request, { address: "192.0.2.1" });
    const { client, server } = await answer.json();
    assert.deepEqual([client.dn, client.xlogin.UID], [ANN, "shared"]);
    assert.equal(server.externalConnections[`Door ${door}`], "OK");
  } finally {
    await service.close();
  }
});
