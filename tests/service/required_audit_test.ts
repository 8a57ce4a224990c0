/** Tests which requests `container.audit.required` refuses while audit lines cannot be written. */
import assert from "node:assert/strict";
import { inspect } from "../../src/command/diagnosis/inspect.ts";
import type { AuditRecord } from "../../src/logging/audit_record.ts";
import { createLogger, SILENT } from "../../src/logging/logger.ts";
import { HeaderList } from "../../src/model/http_message.ts";
import { assemble } from "../../src/service/assembly/assemble.ts";
import type { Route } from "../../src/service/http/router.ts";
import { createService } from "../../src/service/service.ts";
import { certificateLine } from "../authentication/ssh_key/certificate/certificates.ts";
import { authenticatorProperties } from "../system/every_method.ts";
import { OWN_PAGE } from "../system/visitor.ts";
import { createSite } from "../system/running_service.ts";

const site = await createSite({
  properties: {
    "container.security.rest.authentication.order": "PASSWORD SSHKEY OAUTH",
    ...authenticatorProperties("OAUTH", {
      class: "OAuthAuthenticator",
      issuer: "https://localhost:1/nobody-is-there",
      signIn: "true",
      signInTitle: "Institute",
      clientID: "uftp",
      clientSecret: "a secret of the client",
      requiredClient: "uftp",
      identityTemplate: "CN=%sub%",
    }),
    ...authenticatorProperties("SSHKEY", {
      class: "SSHKeyAuthenticator",
      certificateAuthorities: "{folder}/conf/ssh_ca.pub",
      certificateIdentity: "CN=%principal%,OU=ssh-certificates",
    }),
    "container.audit.required": "true",
    "share.servers": "HPC",
    "persistence.directory": "{folder}/data",
  },
  files: { "conf/ssh_ca.pub": `${certificateLine("ca_ed25519")}\n` },
});
await Deno.mkdir(`${site.folder}/data`);
Deno.test.afterAll(() => site[Symbol.asyncDispose]());
const { snapshot, diagnostics } = await inspect(site.main);
assert(snapshot !== undefined, diagnostics.map(({ key, expected }) => `${key}: ${expected}`).join("\n"));
const options = { ...snapshot, generation: 1, upSince: 0, port: 9000 };
const assembled = await assemble(options, { log: SILENT, clock: Date.now });
const { routes } = assembled;
await assembled.close();

/** Starts a service, and returns the audit lines and log lines that it writes, and its answers. */
async function serviceWith({ required }: { readonly required: boolean }) {
  const audited: AuditRecord[] = [];
  const log: string[] = [];
  const config = { ...options.config, audit: { ...options.config.audit, required } };
  const service = await createService({ ...options, config }, {
    log: createLogger((line) => log.push(line.slice(25))),
    audit: (record) => void audited.push(record),
  });
  const ask = async (
    { method, path, consumes = "application/json" }: Pick<Route, "method" | "path" | "consumes">,
  ) => {
    const response = await service.answer({
      method,
      path: path.replace(":server", "HPC").replace(/[:*]\w+/g, "some"),
      query: "",
      headers: new HeaderList([
        ...["Content-Type", consumes, "Accept", "application/json"],
        ...Object.entries(OWN_PAGE).flat(),
      ]),
      client: { address: "127.0.0.1" },
      body: null,
    }, new AbortController().signal);
    return {
      status: response.status,
      refused: response.status === 503 && String(response.body).includes("ERR_AUDIT_UNAVAILABLE"),
    };
  };
  return { service, audited, log, ask, [Symbol.asyncDispose]: () => service.close() };
}

Deno.test("each kind of audit record has a route in this table", () => {
  const kinds = new Set(routes.flatMap(({ audit }) => audit ?? []));
  assert.deepEqual([...kinds].sort(), [
    "admin",
    "certificate",
    "login",
    "revoke",
    "session",
    "share",
    "token",
  ]);
});

for (const { audit, ...route } of routes) {
  const name = `${route.method} ${route.path}`;
  Deno.test(`${name} is ${audit ? "refused" : "answered"} while required audit lines cannot be written`, async () => {
    await using required = await serviceWith({ required: true });
    required.service.setAuditFailing(true);
    const { status, refused } = await required.ask(route);
    assert.equal(refused, audit !== undefined);
    if (audit !== undefined) {
      assert.equal(status, 503);
      assert.deepEqual(required.audited, [], "no line that would push another one out of the queue");
      assert.ok(required.log.some((line) => /^error request answered/.test(line)), required.log.join("\n"));
    }
    required.service.setAuditFailing(false);
    assert.equal((await required.ask(route)).refused, false, "as soon as they can be written");
  });
}

Deno.test("no request is refused while audit lines cannot be written, if they are not required", async () => {
  await using service = await serviceWith({ required: false });
  service.service.setAuditFailing(true);
  for (const route of routes) assert.equal((await service.ask(route)).refused, false, route.path);
  const audited = routes.filter(({ audit }) => audit !== undefined).length;
  assert.ok(service.audited.length >= audited / 2, String(service.audited.length));
});
