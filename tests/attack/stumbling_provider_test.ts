/** Tokens at which an identity provider stumbles keep nobody out but who shows them. */
import assert from "node:assert/strict";
import { gzipSync } from "node:zlib";
import { unsignedJwt } from "../authentication/sample_credentials.ts";
import type { Answer } from "../identity_provider/https_server.ts";
import { sendJson } from "../identity_provider/oidc_provider.ts";
import { note } from "../long/results.ts";
import { runWithEveryMethod } from "../system/every_method.ts";
import { SHORT_TIMES } from "../faults/provider_fault.ts";

const JSON_TYPE = { "Content-Type": "application/json" };

const STUMBLES: Readonly<Record<string, Answer>> = {
  "500": (_, response) => response.writeHead(500).end("NullPointerException"),
  "too long": (_, response) => {
    response.writeHead(200, JSON_TYPE).write(`{"a":"${"a".repeat(2 ** 20)}"}`);
    response.end();
  },
  "cut": (_, response) => {
    response.writeHead(200, { ...JSON_TYPE, "Content-Length": "1000" });
    response.write('{"email":', () => response.destroy());
  },
  "gzipped": (_, response) =>
    response.writeHead(200, { ...JSON_TYPE, "Content-Encoding": "gzip" }).end(gzipSync('{"email":"x"}')),
  "not UTF-8": (_, response) => response.writeHead(200, JSON_TYPE).end(Uint8Array.of(0x7b, 0xff, 0x7d)),
  "no answer but the end": (_, response) => response.destroy(),
};

const bearer = (token: string) => ({ headers: { Authorization: `Bearer ${token}` } });

Deno.test("tokens at which a provider stumbles keep not one genuine user out, however it does", async () => {
  await using setting = await runWithEveryMethod(SHORT_TIMES);
  const { system, oidc, unity } = setting;
  let genuine = 0;
  let bad = 0;
  for (const [what, stumble] of Object.entries(STUMBLES)) {
    const fault: Answer = (request, response) => {
      const said = `${request.headers.authorization} ${request.body}`;
      if (/bad-/.test(said)) return stumble(request, response);
      const [, name] = /(good-[a-z0-9-]+)/.exec(said) ?? [];
      if (request.path === "/userinfo" && name !== undefined) {
        return sendJson(response, { email: `${name}@site-a.example`, preferred_username: "ann7" });
      }
      response.writeHead(401).end();
    };
    oidc.fault = fault;
    unity.fault = fault;
    const kind = what.replaceAll(" ", "-");
    for (let i = 0; i < 12; i++) {
      // The same token again, another one, and texts that no provider gets to see.
      const tokens = [`bad-${kind}`, `bad-${kind}-${i}`, unsignedJwt({ sub: "bad-" }, { alg: "none" })];
      const [refused, stranger, malformed] = await Promise.all(
        tokens.map((token) => system.ask("/rest/auth", bearer(token))),
      );
      assert.deepEqual([refused?.status, stranger?.status, malformed?.status], [503, 503, 401], what);
      bad += 3;
      // A new token each time: nothing is remembered of it.
      const reply = await system.ask("/rest/auth", bearer(`good-${kind}-${i}`));
      assert.equal(reply.status, 200, `${what}: ${reply.text}`);
      genuine++;
    }
  }
  note("trials", {
    trial: "tokens at which an identity provider stumbles",
    done: `${bad} of them, answered with ${
      Object.keys(STUMBLES).join(", ")
    }; ${genuine} genuine logins in between`,
    outcome: "not one genuine login was kept out",
  });
});
