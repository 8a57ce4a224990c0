import assert from "node:assert/strict";
import { inspect } from "../../src/command/diagnosis/inspect.ts";
import { createLogger } from "../../src/logging/logger.ts";
import { HeaderList } from "../../src/model/http_message.ts";
import { createService } from "../../src/service/service.ts";
import { certificateLine } from "../authentication/ssh_key/certificate/certificates.ts";
import { createSite } from "../system/running_service.ts";

/** Starts a service in this process, and returns its answers and log lines. */
async function serviceWith(
  properties: Readonly<Record<string, string>>,
  files: Readonly<Record<string, string>> = {},
) {
  const site = await createSite({ properties, files });
  const { snapshot, diagnostics } = await inspect(site.main);
  assert(snapshot !== undefined, diagnostics.map(({ expected }) => expected).join());
  const lines: string[] = [];
  const service = await createService(
    { ...snapshot, generation: 1, upSince: 0, port: 9000 },
    { log: createLogger((line) => lines.push(line)) },
  );
  const answer = (method: string, path: string) => {
    const request = {
      method,
      path,
      query: "",
      headers: new HeaderList(["Accept", "text/html, */*;q=0.5"]),
      client: { address: "127.0.0.1" },
      body: null,
    };
    return service.answer(request, new AbortController().signal);
  };
  return {
    lines,
    status: async (path: string): Promise<number> => (await answer("GET", path)).status,
    text: async (path: string): Promise<string> => String((await answer("GET", path)).body),
    /** Returns the methods of a path; empty if there is no such path. */
    async methods(path: string): Promise<string> {
      const { status, headers } = await answer("OPTIONS", path);
      if (status === 404) return "";
      assert.equal(status, 204);
      return headers.get("Allow")?.replace(/(?:, )?OPTIONS$/, "") || "none here";
    },
    async [Symbol.asyncDispose]() {
      await service.close();
      await site[Symbol.asyncDispose]();
    },
  };
}

const ORDER = "container.security.rest.authentication.order";

const WAYS: readonly (readonly [methods: string, status: number])[] = [
  ["PASSWORD", 200],
  ["X509", 200],
  ["SSHKEY", 404],
  ["SSHKEY X509", 200],
];
for (const [methods, status] of WAYS) {
  Deno.test(`a service with the methods ${methods} answers ${status} at /login`, async () => {
    await using at = await serviceWith({
      [ORDER]: methods,
      "container.security.rest.authentication.SSHKEY.class": "SSHKeyAuthenticator",
      "container.httpServer.wantClientAuthn": "true",
    });
    assert.equal(await at.status("/login"), status);
    assert.equal(await at.status("/.well-known/oauth-protected-resource"), 404, "nobody issues tokens");
  });
}

Deno.test("a service that accepts tokens of one issuer tells clients where to get them", async () => {
  const method = "container.security.rest.authentication.OAUTH";
  await using at = await serviceWith({
    [ORDER]: "OAUTH",
    [`${method}.class`]: "OAuthAuthenticator",
    [`${method}.issuer`]: "https://localhost:1/nobody-is-there",
    [`${method}.requiredAudience`]: "uftp",
    [`${method}.identityTemplate`]: "CN=%sub%",
  });
  assert.equal(await at.status("/.well-known/oauth-protected-resource"), 200);
});

Deno.test("a service with browser sign-in at a provider has the routes for it", async () => {
  const method = "container.security.rest.authentication.OAUTH";
  await using at = await serviceWith({
    [ORDER]: "OAUTH",
    [`${method}.class`]: "OAuthAuthenticator",
    [`${method}.issuer`]: "https://localhost:1/nobody-is-there",
    [`${method}.signIn`]: "true",
    [`${method}.signInTitle`]: "Institute",
    [`${method}.clientID`]: "uftp",
    [`${method}.clientSecret`]: "a secret of the client",
    [`${method}.requiredClient`]: "uftp",
    [`${method}.identityTemplate`]: "CN=%sub%",
  });
  assert.equal(await at.status("/login"), 200);
  assert.equal(await at.methods("/login"), "GET, HEAD, POST");
  for (const path of ["/login/OAUTH", "/login/OAUTH/done"]) assert.equal(await at.methods(path), "GET, HEAD");
});

Deno.test("a request that the service could not serve is logged as a warning, others as information", async () => {
  await using at = await serviceWith({ "authservice.server.HPC.commandPort": "1" });
  const levelOf = async (path: string) => {
    const from = at.lines.length;
    await at.status(path);
    return at.lines.slice(from).filter((line) => line.includes("request answered"))
      .map((line) => line.split(/\s+/)[1]);
  };
  assert.deepEqual(await levelOf("/health/live"), ["info"]);
  assert.deepEqual(await levelOf("/nowhere"), ["info"]);
  assert.deepEqual(await levelOf("/health/ready"), ["warn"], "no daemon");
});

/** Methods by path, for each service, and for pages that need several services. */
const PATHS = {
  always: {
    "/health/live": "GET, HEAD",
    "/health/ready": "GET, HEAD",
    "/openapi.json": "GET, HEAD",
    "/help": "GET, HEAD",
  },
  auth: {
    "/": "GET, HEAD",
    "/rest/auth": "GET, HEAD",
    "/rest/auth/HPC": "GET, HEAD, POST",
    "/rest/auth/token": "GET, HEAD",
    "/rest/auth/certificate": "GET, HEAD",
    "/rest/auth/tokens": "GET, HEAD, DELETE",
    "/rest/auth/tokens/1": "DELETE",
    "/rest/auth/ssh-certificate": "GET, HEAD, POST",
    "/login": "GET, HEAD, POST",
    "/logout": "POST",
    "/tokens": "GET, HEAD, POST",
    "/tokens/1": "POST, GET, HEAD",
  },
  share: {
    "/rest/share": "GET, HEAD",
    "/rest/share/HPC": "GET, HEAD, POST",
    "/rest/share/HPC/1": "GET, HEAD, PUT, DELETE",
    "/rest/share/token": "GET, HEAD",
    "/rest/share/certificate": "GET, HEAD",
  },
  access: {
    "/rest/access/HPC/1": "GET, HEAD, PUT, POST",
    "/rest/access/HPC/1/auth": "GET, HEAD, PUT",
    "/rest/access/HPC/1/a/b": "GET, HEAD, PUT",
    "/rest/access/token": "GET, HEAD",
    "/rest/access/certificate": "GET, HEAD",
    "/link/HPC/1": "GET, HEAD, POST",
    "/drop/HPC/1": "GET, HEAD, POST",
    "/drop/HPC/1/a": "GET, HEAD, POST",
  },
  admin: { "/rest/admin": "GET, HEAD", "/rest/admin/actions/ban": "POST" },
  "auth share": {
    "/shares": "GET, HEAD",
    "/shares/HPC": "GET, HEAD, POST",
    "/shares/HPC/browse": "GET, HEAD",
    "/shares/HPC/new": "GET, HEAD",
    "/shares/HPC/1": "GET, HEAD, POST",
  },
  "auth access": { "/shared/HPC/1": "GET, HEAD, PUT, POST", "/shared/HPC/1/a": "GET, HEAD, PUT, POST" },
  "auth admin": { "/admin": "GET, HEAD", "/admin/bans": "POST" },
  "nobody issues certificates, nor signs people in": {
    "/certificate": "",
    "/login/SITE": "",
    "/login/SITE/done": "",
  },
};

/** Features to turn off, and the services that each one turns off. */
const FEATURES: readonly (readonly [feature: string, services: readonly string[]])[] = [
  ["Registry", []],
  ["AuthServer", ["auth"]],
  ["AuthServer.auth", ["auth"]],
  ["DataSharing", ["share", "access"]],
  ["DataSharing.share", ["share"]],
  ["DataSharing.access", ["access"]],
  ["Admin", ["admin"]],
  ["Admin.admin", ["admin"]],
];
for (const [feature, off] of FEATURES) {
  Deno.test(`a service without the feature ${feature} has all paths except those of ${off.join(" and ") || "none"}`, async () => {
    await using at = await serviceWith({
      [`container.feature.${feature}.enable`]: "false",
      "share.servers": "HPC",
      "persistence.directory": "{folder}",
    });
    for (const [services, paths] of Object.entries(PATHS)) {
      const isOff = services.split(" ").some((service) => off.includes(service));
      for (const [path, methods] of Object.entries(paths)) {
        // The start page stays, for clients that check whether the service is running.
        const expected = isOff ? (path === "/" ? "none here" : "") : methods;
        assert.equal(await at.methods(path), expected, path);
      }
    }
  });
}

/** Statuses of each operation, for success and for errors. */
const STATUSES = {
  isAlive: "200 400 406 408 413 431 500 503",
  isReady: "200 400 406 408 413 431 500 503",
  listServers: "200 400 401 403 406 408 413 429 431 500 503",
  listServersAtRoot: "200 400 401 403 406 408 413 429 431 500 503",
  signIn: "200 303 400 401 403 408 413 429 431 500 503",
  showServer: "200 400 401 403 404 406 408 413 429 431 500 503",
  openSession: "200 400 401 403 404 406 408 413 415 429 431 500 501 502 503 504",
  uploadSshCertificate: "200 400 403 406 408 413 429 431 500 503",
  forgetSshCertificate: "204 400 403 404 408 413 429 431 500 503",
  listTokens: "200 400 401 403 406 408 413 429 431 500 501 503",
  revokeTokens: "200 400 401 403 406 408 413 429 431 500 501 503",
  revokeToken: "204 400 401 403 404 408 413 429 431 500 501 503",
  listSharedServers: "200 400 401 403 406 408 413 429 431 500 503",
  listShares: "200 400 401 403 404 406 408 413 429 431 500 503",
  createShare: "200 201 400 401 403 404 406 408 409 413 415 429 431 500 501 502 503 504",
  showShare: "200 400 401 403 404 406 408 413 429 431 500 503",
  updateShare: "200 400 401 403 404 406 408 409 413 415 429 431 500 501 502 503 504",
  deleteShare: "200 400 401 403 404 406 408 413 429 431 500 503",
  download: "200 206 304 400 401 403 404 408 412 413 416 429 431 500 501 502 503 504",
  upload: "200 201 202 400 401 403 404 408 409 411 412 413 429 431 500 501 502 503 504 507",
  openSessionOfShare: "200 400 401 403 404 406 408 413 415 429 431 500 501 502 503 504",
  downloadBelow: "200 206 304 400 401 403 404 408 412 413 416 429 431 500 501 502 503 504",
  uploadBelow: "200 201 202 400 401 403 404 408 409 411 412 413 429 431 500 501 502 503 504 507",
  openSharedSession: "200 400 401 403 404 406 408 413 415 429 431 500 501 502 503 504",
  describeAdministration: "200 303 400 401 403 406 408 413 429 431 500 503",
  carryOut: "200 400 401 403 404 406 408 413 415 429 431 500 503",
  issueAuthToken: "200 400 401 403 406 408 413 429 431 500 503",
  showAuthCertificate: "200 204 400 401 403 406 408 413 429 431 500 503",
  issueShareToken: "200 400 401 403 406 408 413 429 431 500 503",
  showShareCertificate: "200 204 400 401 403 406 408 413 429 431 500 503",
  issueAccessToken: "200 400 401 403 406 408 413 429 431 500 503",
  showAccessCertificate: "200 204 400 401 403 406 408 413 429 431 500 503",
  describeService: "200 400 406 408 413 429 431 500 503",
};

Deno.test("the OpenAPI description covers every answer of each operation", async () => {
  const method = "container.security.rest.authentication.SSHKEY";
  await using at = await serviceWith({
    [ORDER]: "PASSWORD SSHKEY",
    [`${method}.class`]: "SSHKeyAuthenticator",
    [`${method}.certificateAuthorities`]: "{folder}/conf/ssh_ca.pub",
    [`${method}.certificateIdentity`]: "CN=%principal%,OU=ssh-certificates",
    "share.servers": "HPC",
    "persistence.directory": "{folder}",
  }, { "conf/ssh_ca.pub": `${certificateLine("ca_ed25519")}\n` });
  const { paths } = JSON.parse(await at.text("/openapi.json"));
  const found: Record<string, string> = {};
  for (const operations of Object.values<Record<string, Record<string, unknown>>>(paths)) {
    for (const { operationId, responses } of Object.values(operations)) {
      if (operationId !== undefined) found[String(operationId)] = Object.keys(Object(responses)).join(" ");
    }
  }
  assert.deepEqual(found, STATUSES);
});
