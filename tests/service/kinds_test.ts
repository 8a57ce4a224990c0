import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { configurationReference } from "../../bin/docs/configuration_reference.ts";
import { checkOnline } from "../../src/command/diagnosis/check_online.ts";
import { inspectDataFiles } from "../../src/command/diagnosis/inspect.ts";
import { sections } from "../../bin/docs/sections.ts";
import { SILENT } from "../../src/logging/logger.ts";
import { formatDiagnostic } from "../../src/model/diagnostic.ts";
import { corePermissions } from "../../src/workers/permissions.ts";
import { loadSnapshot } from "../../src/service/assembly/load_snapshot.ts";
import { createService } from "../../src/service/service.ts";
import { startOidcProvider } from "../identity_provider/oidc_provider.ts";
import { createAuthority } from "../pki/authority.ts";
import { createSite } from "../system/running_service.ts";
import { endpointOf, type Kind, type KindList } from "../../src/config/kind.ts";
import { KINDS } from "../../src/service/kinds.ts";
import { GATE_PORT } from "../fixtures/gate_kind/kind.ts";
import { startGate } from "../fixtures/gate_kind/gate_server.ts";
import { MORE_KINDS } from "./made_up_kinds.ts";
import { answerWeb } from "../../src/service/mount.ts";

const METHOD = "container.security.rest.authentication.";
const SOURCE = "container.security.attributes.";
const ANN = "CN=Ann,O=Demo,C=EU";

/** Creates a site that uses the made-up kinds, by their default names. */
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

Deno.test("a made-up kind is configured by its keys and their defaults", async () => {
  await using site = await badgeSite();
  const { list, door } = site;
  assert.deepEqual(site.config?.authentication.authenticators, [
    { kind: "BadgeAuthenticator", name: "BADGE", list, door, floors: 9 },
  ]);
  assert.deepEqual(site.config?.attributes.sources, [
    { kind: "EverybodySource", name: "EVERYBODY", account: "shared" },
  ]);
});

Deno.test("errors in the keys of a made-up kind are reported", async () => {
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

Deno.test("the manual contains the keys of a made-up kind", async () => {
  const manual = configurationReference(await sections(MORE_KINDS));
  assert.match(manual, /^## BadgeAuthenticator: badges of a door \(BADGE\)$/m);
  assert.match(manual, /^\| `\S+<method>\.floors` \| .* \| `9` floors \| How many floors there are\. \|$/m);
  assert.match(manual, /^\| `\S+<source>\.account` \| text \| \*\*required\*\* \|/m);
});

Deno.test("the core may read the files of a made-up kind, and connect to its systems", async () => {
  await using site = await badgeSite();
  const { config, list, door } = site;
  assert(config !== undefined);
  const { read, net } = await corePermissions(config, () => Promise.resolve([]), MORE_KINDS);
  assert(read !== false && read.includes(list));
  assert(net !== false && net.includes(new URL(door).host));
});

Deno.test("check inspects a made-up kind, and check --online tests it", async () => {
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

Deno.test("a made-up kind authenticates users, gives them attributes, and is on the status page", async () => {
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

/** Creates a site whose authenticator and attribute source use their own protocol over TLS. */
async function gateSite({ asked = false, address }: { asked?: boolean; address?: string } = {}) {
  const authority = createAuthority({ subject: "CN=Demo CA,O=Demo,C=EU" });
  const server = await startGate(
    authority.issue({ subject: "CN=localhost", names: ["localhost", "127.0.0.1"] }),
    {
      asked,
    },
  );
  const site = await createSite({
    authority,
    files: { "conf/notice.txt": "\n" },
    properties: {
      [`${METHOD}order`]: "GATE",
      [`${METHOD}GATE.address`]: address ?? server.address,
      [`${METHOD}GATE.notice`]: "{folder}/conf/notice.txt",
      [`${SOURCE}order`]: "GATE",
      [`${SOURCE}GATE.address`]: (address ?? server.address).replace("localhost", "127.0.0.1"),
    },
  });
  const { config, snapshot, diagnostics } = await loadSnapshot(site.main, {
    environment: () => undefined,
    kinds: MORE_KINDS,
  });
  assert(config !== undefined && snapshot !== undefined, diagnostics.map(formatDiagnostic).join());
  return {
    address: server.address,
    notice: `${site.folder}/conf/notice.txt`,
    config,
    snapshot,
    async [Symbol.asyncDispose]() {
      await Promise.all([site, server].map((each) => each[Symbol.asyncDispose]()));
    },
  };
}

Deno.test("the core may connect only to the port that a kind with its own protocol names", async () => {
  await using site = await gateSite({ address: "gates://gate.example" });
  const { net, read } = await corePermissions(site.config, () => Promise.resolve(["192.0.2.7"]), MORE_KINDS);
  assert(net !== false && read !== false);
  const reached = net.filter((endpoint) => /^(?:gate\.example|192\.0\.2\.7)/.test(endpoint));
  assert.deepEqual(reached.filter((endpoint) => endpoint.endsWith(`:${GATE_PORT}`)), [
    `192.0.2.7:${GATE_PORT}`,
    `gate.example:${GATE_PORT}`,
  ]);
  assert.equal(reached.some((endpoint) => endpoint.endsWith(":443")), false);
  assert(read.includes(site.notice));
});

Deno.test("endpointOf() refuses an address if neither scheme nor kind names a port", () => {
  assert.throws(() => endpointOf({ address: "gates://gate.example" }), TypeError);
});

for (const asked of [false, true]) {
  const when = asked ? "asked for" : "from the start";
  Deno.test(`a kind with its own protocol works in check, logins and status, with TLS ${when}`, async () => {
    await using site = await gateSite({ asked });
    const { config, snapshot, address, notice } = site;
    const diagnostics = await inspectDataFiles(config, MORE_KINDS);
    assert.deepEqual(diagnostics.map(formatDiagnostic), [`${notice}: the notice says nothing`]);
    const findings = await checkOnline(snapshot, { log: SILENT, clock: Date.now, kinds: MORE_KINDS });
    for (const system of ["method GATE", "attribute source GATE"]) {
      const finding = findings.find((finding) => finding.system === system);
      assert.equal(finding?.ok, true, finding?.found);
      assert.match(finding?.found ?? "", /^certificate valid(?: for \d+ days)?; says HELLO$/);
    }
    const parts = { ...snapshot, generation: 1, upSince: 0, port: 0 };
    const service = await createService(parts, { log: SILENT, kinds: MORE_KINDS });
    try {
      const ask = async (password: string, accept = "application/json") => {
        const authorization = `Basic ${Buffer.from(`ann:${password}`).toString("base64")}`;
        const headers = { Authorization: authorization, Accept: accept };
        return await answerWeb(service, new Request("https://localhost/rest/auth", { headers }), {
          address: "192.0.2.1",
        });
      };
      const { client, server } = await (await ask("open-sesame")).json();
      assert.deepEqual([client.dn, client.xlogin.UID], ["CN=ann", "shared"]);
      for (const host of ["localhost", "127.0.0.1"]) {
        assert.equal(server.externalConnections[`Gate ${address.replace("localhost", host)}`], "OK", host);
      }
      const page = await (await ask("open-sesame", "text/html")).text();
      assert.match(page, /a gate/);
      assert.equal((await ask("open-barley")).status, 401);
    } finally {
      await service.close();
    }
  });
}

Deno.test("a kind with its own protocol trusts only certificates from the truststore", async () => {
  await using site = await gateSite();
  const stranger = createAuthority({ subject: "CN=Another CA" });
  await using other = await startGate(stranger.issue({ subject: "CN=localhost", names: ["localhost"] }));
  const remotes = { address: other.address };
  const changed = JSON.parse(
    JSON.stringify(site.config.authentication.authenticators),
    (key, value) => key === "address" ? remotes.address : value,
  );
  const config = {
    ...site.config,
    authentication: { ...site.config.authentication, authenticators: changed },
  };
  const findings = await checkOnline({ ...site.snapshot, config }, {
    log: SILENT,
    clock: Date.now,
    kinds: MORE_KINDS,
  });
  const finding = findings.find(({ system }) => system === "method GATE");
  assert.equal(finding?.ok, false);
  assert.match(finding?.found ?? "", /no trusted authority signed/);
});

Deno.test("kinds that are not configured are not loaded", async () => {
  const loaded: string[] = [];
  const watched = <K extends Kind>(list: KindList<K>): KindList<K> => ({
    ...list,
    kinds: list.kinds.map((entry) => ({
      ...entry,
      load: () => {
        loaded.push(...Object.keys(entry.classes).slice(0, 1));
        return entry.load();
      },
    })),
  });
  const kinds = {
    authenticators: watched(KINDS.authenticators),
    sources: watched(KINDS.sources),
    destinations: watched(KINDS.destinations),
  };
  await using site = await createSite();
  const { snapshot } = await loadSnapshot(site.main, { environment: () => undefined, kinds });
  assert(snapshot !== undefined);
  const service = await createService({ ...snapshot, generation: 1, upSince: 0, port: 0 }, {
    log: SILENT,
    kinds,
  });
  await service.close();
  assert.deepEqual([...new Set(loaded)].sort(), ["FileAttributeSource", "FilebasedAuthenticator"]);
});
