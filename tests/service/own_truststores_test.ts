import assert from "node:assert/strict";
import { X509Certificate } from "node:crypto";
import { loadSnapshot } from "../../src/service/assembly/load_snapshot.ts";
import { formatDiagnostic } from "../../src/model/diagnostic.ts";
import { createSite } from "../system/running_service.ts";
import { createAuthority } from "../pki/authority.ts";

const daemons = createAuthority({ subject: "CN=Daemons" });
const clients = createAuthority({ subject: "CN=Clients" });
const providers = createAuthority({ subject: "CN=Providers" });

const store = (prefix: string, file: string) => ({
  [`${prefix}type`]: "directory",
  [`${prefix}directoryLocations.1`]: file,
});

Deno.test("clients, providers and the daemons of a server can each have their own truststore", async () => {
  const folder = await Deno.makeTempDir({ prefix: "authserver-stores-" });
  try {
    for (const [name, { certificate }] of Object.entries({ daemons, clients, providers })) {
      await Deno.writeTextFile(`${folder}/${name}.pem`, certificate);
    }
    await using site = await createSite({
      properties: {
        ...store("container.security.clientTruststore.", `${folder}/clients.pem`),
        ...store("container.security.providerTruststore.", `${folder}/providers.pem`),
        ...store("authservice.server.HPC.truststore.", `${folder}/daemons.pem`),
      },
    });
    const { snapshot, diagnostics, files } = await loadSnapshot(site.main, { environment: () => undefined });
    assert.deepEqual(diagnostics.map(formatDiagnostic), []);
    const subjects = (anchors: readonly string[] = []) =>
      anchors.map((pem) => new X509Certificate(pem).subject);
    const { material } = snapshot ?? {};
    assert.deepEqual(subjects(material?.clients?.anchors), ["CN=Clients"]);
    assert.deepEqual(subjects(material?.providerAnchors), ["CN=Providers"]);
    assert.deepEqual(Object.keys(material?.daemons ?? {}), ["HPC"]);
    assert.deepEqual(subjects(material?.daemons?.["HPC"]?.anchors), ["CN=Daemons"]);
    assert.deepEqual([files.clients, files.providers, files.daemons], [
      [`${folder}/clients.pem`],
      [`${folder}/providers.pem`],
      [[`${folder}/daemons.pem`]],
    ]);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

for (const wanted of [true, false]) {
  Deno.test(`public authorities are ${wanted ? "read" : "not read"} if publicRoots is ${wanted}`, async () => {
    await using site = await createSite({ properties: { "container.client.publicRoots": String(wanted) } });
    const { snapshot, diagnostics } = await loadSnapshot(site.main, { environment: () => undefined });
    // A machine may have none; then a diagnostic says so.
    const roots = snapshot?.material?.publicRoots?.length ?? diagnostics.map(formatDiagnostic).join("\n");
    if (wanted) {
      assert.ok(typeof roots === "number" ? roots > 0 : /public authorities/.test(roots), `${roots}`);
    } else assert.equal(roots, "");
  });
}
