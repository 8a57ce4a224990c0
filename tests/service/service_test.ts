import assert from "node:assert/strict";
import { inspect } from "../../src/command/diagnosis/inspect.ts";
import { createLogger } from "../../src/logging/logger.ts";
import { HeaderList } from "../../src/model/header_list.ts";
import { createService } from "../../src/service/service.ts";
import { createSite } from "../system/running_service.ts";

/** A service in this very process, and what it logs. */
async function serviceWith(properties: Readonly<Record<string, string>>) {
  const site = await createSite({ properties });
  const { setup, problems } = await inspect(site.main);
  assert(setup !== undefined, problems.map(({ expected }) => expected).join());
  const lines: string[] = [];
  const service = await createService(
    { ...setup, generation: 1, upSince: 0, port: 9000 },
    { log: createLogger((line) => lines.push(line)) },
  );
  return {
    lines,
    async status(path: string): Promise<number> {
      const request = {
        method: "GET",
        path,
        query: "",
        headers: new HeaderList(["Accept", "text/html, */*;q=0.5"]),
        client: { address: "127.0.0.1" },
        body: null,
      };
      return (await service.answer(request, new AbortController().signal)).status;
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
  Deno.test(`a service that knows people by ${methods} answers ${status} where browsers sign in`, async () => {
    await using at = await serviceWith({
      [ORDER]: methods,
      "container.security.rest.authentication.SSHKEY.class": "SSHKeyAuthenticator",
      "container.httpServer.wantClientAuthn": "true",
    });
    assert.equal(await at.status("/login"), status);
    assert.equal(await at.status("/.well-known/oauth-protected-resource"), 404, "nobody issues tokens");
  });
}

Deno.test("a service that takes tokens of one issuer tells clients where to get them", async () => {
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

Deno.test("a request is logged as a warning where the service could not do it, and else for information", async () => {
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
