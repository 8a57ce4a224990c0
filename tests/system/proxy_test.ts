/** Identity provider that the service can reach only by a proxy, with the product's permissions. */
import assert from "node:assert/strict";
import { startOidcProvider } from "../identity_provider/oidc_provider.ts";
import { startConnectProxy } from "../outgoing/connect_proxy.ts";
import { createAuthority } from "../pki/authority.ts";
import { authenticatorProperties } from "./every_method.ts";
import { runService } from "./running_service.ts";

Deno.test("a service behind a proxy accepts users of a provider whose name it cannot resolve", async () => {
  const authority = createAuthority({ subject: "CN=Demo CA,O=Demo,C=EU" });
  const tls = authority.issue({ subject: "CN=idp", names: ["idp.example"] });
  await using oidc = await startOidcProvider(tls);
  oidc.tokens.set("userinfo-token", { email: "ann@example.org" });
  await using proxy = await startConnectProxy();
  await using system = await runService({
    authority,
    properties: {
      "container.security.rest.authentication.order": "OAUTH",
      ...authenticatorProperties("OAUTH", {
        address: `https://idp.example:${oidc.server.port}/userinfo`,
        identityAssign: '"UID="+email',
        requiredClient: "",
      }),
      "container.client.http.proxyHost": "127.0.0.1",
      "container.client.http.proxyPort": String(proxy.port),
      "container.client.http.proxy.user": "auth",
      "container.client.http.proxy.password": "hidden",
    },
  });
  const reply = await system.ask("/rest/auth", { headers: { Authorization: "Bearer userinfo-token" } });
  assert.equal(reply.status, 200, reply.text);
  assert.match(reply.text, /UID=ann@example\.org/);
  assert.match(proxy.heads[0] ?? "", /^CONNECT idp\.example:[0-9]+ HTTP\/1\.1\r\n/);
  assert.match(proxy.heads[0] ?? "", new RegExp(`Proxy-Authorization: Basic ${btoa("auth:hidden")}\r\n`));
});
