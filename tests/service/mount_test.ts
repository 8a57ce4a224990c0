import assert from "node:assert/strict";
import { request as httpRequest } from "node:http";
import { InvalidFile } from "../../src/model/diagnostic.ts";
import { mountService } from "../../src/service/mount.ts";
import { startDaemon } from "../daemon_simulator/daemon.ts";
import { DEMO_USER, writeDemoConfiguration } from "../demo/demo_configuration.ts";
import { ask } from "../demo/ask.ts";
import { ApiDescription } from "../openapi/api_description.ts";
import { createAuthority } from "../pki/authority.ts";
import { serveWithDeno } from "../../docs/examples/mount_in_deno_serve.ts";
import { serveWithNode } from "../../docs/examples/mount_in_node_http.ts";

const AUTHORIZATION = `Basic ${btoa(`${DEMO_USER.name}:${DEMO_USER.password}`)}`;
const PEER = { address: "127.0.0.1" };

/** Starts a daemon and writes the configuration of a service in front of it. */
async function host(more = "") {
  const authority = createAuthority({ subject: "CN=Demo CA,O=authserver demo" });
  const folder = await Deno.makeTempDir({ prefix: "authserver-mount-" });
  await Deno.mkdir(`${folder}/home`);
  const daemon = await startDaemon({
    tls: {
      ...authority.issue({ subject: "CN=Demo UFTPD,O=authserver demo" }),
      trusted: [authority.certificate],
    },
    acl: "CN=localhost,O=authserver demo",
    users: { [DEMO_USER.account]: { uid: 1000, home: `${folder}/home`, groups: [DEMO_USER.group] } },
  });
  const configuration = await writeDemoConfiguration({ folder, authority, daemon }, { port: 9000 });
  await Deno.writeTextFile(configuration, more, { append: true });
  return {
    authority,
    configuration,
    folder,
    daemon,
    async [Symbol.asyncDispose]() {
      await daemon.close();
      daemon.assertNeverWedged();
      await Deno.remove(folder, { recursive: true });
    },
  };
}

const PROVIDER = `
container.security.rest.authentication.order=OAUTH
container.security.rest.authentication.OAUTH.class=eu.unicore.services.rest.security.OAuthAuthenticator
container.security.rest.authentication.OAUTH.address=https://idp.example.org/userinfo
container.security.rest.authentication.OAUTH.identityAssign=email
`;

/** Asserts that each operation describes an answer for success, and the meaning of each error. */
function assertTellsOutcomes({ paths, components }: {
  paths: Record<string, Record<string, unknown>>;
  components: { responses: Record<string, unknown> };
}): void {
  for (const [path, operations] of Object.entries(paths)) {
    for (const [method, operation] of Object.entries(operations)) {
      if (typeof operation !== "object" || operation === null || !("responses" in operation)) continue;
      const outcomes = Object.entries(Object(operation.responses));
      assert(outcomes.some(([status]) => Number(status) < 400), `${method} ${path} never succeeds`);
      for (const [status, outcome] of outcomes) {
        if (Number(status) < 400) continue;
        const { $ref } = Object(outcome);
        const said = $ref === undefined
          ? outcome
          : components.responses[String($ref).split("/").at(-1) ?? ""];
        assert.match(
          Object(said).description,
          /^\S+ \S/,
          `${status} of ${method} ${path} is not explained`,
        );
      }
    }
  }
}

Deno.test("mountService() contacts no identity provider in a process that trusts public authorities", async () => {
  await using site = await host(PROVIDER);
  await assert.rejects(
    mountService({ configuration: site.configuration, log: () => {} }),
    (error) => error instanceof InvalidFile && /publicRoots.*SSL_CERT_FILE=\/dev\/null/.test(error.message),
  );
});

Deno.test("mountService() serves below a path with matching links, and every answer conforms to its description", async () => {
  await using site = await host("container.externalurl=https://host.example.org/\nXNJS.whatever=1\n");
  const lines: string[] = [];
  const { configuration } = site;
  const service = await mountService({ configuration, path: "/uftp/", log: (line) => lines.push(line) });
  try {
    const send = async (path: string, init: RequestInit = {}) => {
      const url = new URL(path, "https://host.example.org");
      const answer = await service.handle(new Request(url, init), PEER);
      if (path !== "/uftp") assert.equal(answer.headers.get("X-Content-Type-Options"), "nosniff");
      return answer;
    };
    const document = await (await send("/uftp/openapi.json")).json();
    assertTellsOutcomes(document);
    const description = new ApiDescription(document);
    const asked = async (
      path: string,
      init: RequestInit & { readonly headers?: Record<string, string> } = {},
    ) => {
      const response = await send(path, init);
      const text = await response.text();
      description.check({
        method: init.method ?? "GET",
        path: path.replace("/uftp", ""),
        status: response.status,
        header: (name) => response.headers.get(name) ?? undefined,
        text,
      });
      return { status: response.status, text };
    };
    const known = { Authorization: AUTHORIZATION };
    const list = await asked("/uftp/rest/auth", { headers: known });
    assert.equal(list.status, 200);
    const { DEMO, client } = JSON.parse(list.text);
    assert.equal(DEMO.href, "https://host.example.org/uftp/rest/auth/DEMO");
    assert.equal(client.xlogin.UID, DEMO_USER.account);

    const session = await asked("/uftp/rest/auth/DEMO", {
      method: "POST",
      headers: { ...known, "Content-Type": "application/json" },
      body: '{"serverPath":""}',
    });
    assert.equal(session.status, 200);
    assert.equal(JSON.parse(session.text).serverPort, site.daemon.listenPort);

    const html = { Accept: "text/html,*/*;q=0.5" };
    assert.match((await asked("/uftp/", { headers: html })).text, /<h1>DEMO: UFTP/);
    const page = (await asked("/uftp/rest/auth", { headers: { ...html, ...known } })).text;
    assert.match(page, /Signed in as <strong><bdi>demouser<[^]* -u demouser -P /);
    const { text: token } = await asked("/uftp/rest/auth/token", { headers: known });
    const bearer = { ...html, Authorization: `Bearer ${token}` };
    const other = (await asked("/uftp/rest/auth", { headers: bearer })).text;
    assert.match(
      other,
      /Signed in as <strong><bdi>cn=[^]* -A &#34;\$\(cat ~\/\.uftp-token\)&#34; /i,
      "a token is no password",
    );
    assert.equal((await asked("/uftp/rest/auth", { headers: { Authorization: "Basic eDp5" } })).status, 401);
    assert.equal((await asked("/uftp/login", { headers: known })).status, 303);
    assert.equal((await asked("/uftp/rest/auth", { method: "OPTIONS" })).status, 204);
    assert.equal((await asked("/uftp/rest/auth/NONE", { headers: known })).status, 404);
    assert.equal((await asked("/uftp/health/ready")).status, 200);
    assert.equal((await asked("/uftp/rest/auth/token", { headers: known })).status, 200);
    assert.equal((await asked("/uftp/rest/auth/certificate")).status, 200);
    assert.equal((await send("/uftp")).headers.get("Location"), "/uftp/");
    assert.equal((await send("/elsewhere/rest/auth")).status, 404);
    assert.equal((await send("/uftpd/rest/auth")).status, 404);
  } finally {
    await service.close();
  }
  assert.ok(lines.some((line) => line.includes("request answered")));
});

Deno.test("mountService() ignores unknown keys, which may be the host's, and lists all other problems", async () => {
  await using site = await host("container.hostsOwnKey=1\n");
  const service = await mountService({ configuration: site.configuration, log: () => {} });
  await service.close();
  assert.match(service.warnings.join("\n"), /hostsOwnKey: unknown key/);

  await Deno.writeTextFile(site.configuration, "authservice.server.DEMO.1.port=x\n", { append: true });
  await assert.rejects(mountService({ configuration: site.configuration }), InvalidFile);
  await assert.rejects(mountService({ configuration: `${site.folder}/none` }), /no such file/);
  for (const path of ["uftp", "/a b", "/a//b", "/a?b"]) {
    await assert.rejects(mountService({ configuration: site.configuration, path }), TypeError, path);
  }
});

Deno.test("the example for Deno.serve works", async () => {
  await using site = await host();
  const { authority, configuration } = site;
  const { certificate, key } = authority.issue({ subject: "CN=localhost", names: ["localhost"] });
  const server = await serveWithDeno({ configuration, certificate, key, port: 0 });
  try {
    const url = `https://localhost:${server.port}/rest/auth`;
    const { status, text } = await ask(url, authority.certificate, DEMO_USER);
    assert.equal(status, 200);
    assert.match(text, /"UID": "demo"/);
  } finally {
    await server.close();
  }
});

Deno.test("the example for node:http works, and leaves other paths to the host", async () => {
  await using site = await host();
  const server = await serveWithNode(site.configuration, 0);
  try {
    const send = (path: string, body?: string) =>
      new Promise<{ status: number | undefined; text: string }>((resolve, reject) => {
        const outgoing = httpRequest({
          port: server.port,
          path,
          method: body === undefined ? "GET" : "POST",
          headers: { Authorization: AUTHORIZATION, "Content-Type": "application/json" },
          agent: false,
        }, async (response) => {
          resolve({ status: response.statusCode, text: (await response.toArray()).join("") });
        });
        outgoing.on("error", reject);
        outgoing.end(body);
      });
    assert.match((await send("/uftp/rest/auth")).text, /"UID": "demo"/);
    const session = await send("/uftp/rest/auth/DEMO", '{"serverPath":""}');
    assert.equal(session.status, 200);
    assert.equal(JSON.parse(session.text).serverPort, site.daemon.listenPort);
    assert.equal((await send("/other")).text, "The host's own pages\n");
  } finally {
    await server.close();
  }
});
