/** A token at which an identity provider fails locks out only the callers who show it. */
import assert from "node:assert/strict";
import { gzipSync } from "node:zlib";
import type { OAuthConfig } from "../../src/authentication/oauth/oauth_config.ts";
import { OAuth } from "../../src/authentication/oauth/oauth.ts";
import { SILENT } from "../../src/logging/logger.ts";
import { RemoteUnavailable } from "../../src/outgoing/remote_unavailable.ts";
import { OAUTH_CONFIG } from "../authentication/oauth/oauth_config.ts";
import { assignments } from "../authentication/remote_subject.ts";
import { bearer, unsignedJwt } from "../authentication/sample_credentials.ts";
import type { Answer } from "../identity_provider/https_server.ts";
import { sendJson } from "../identity_provider/oidc_provider.ts";
import { LONG, note } from "../long/results.ts";
import { basicHeader } from "../identity_provider/unity_provider.ts";
import { runWithEveryMethod } from "../system/every_method.ts";
import { Visitor } from "../system/visitor.ts";

/** Rounds of bad and genuine tokens for each failure: more than enough to consider a provider down. */
const TURNS = LONG ? 12 : 4;

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
  "gzipped and damaged": (_, response) =>
    response.writeHead(200, { ...JSON_TYPE, "Content-Encoding": "gzip" })
      .end(gzipSync('{"email":"x"}').fill(0xff, 12)),
  "in another coding": (_, response) =>
    response.writeHead(200, { ...JSON_TYPE, "Content-Encoding": "br" }).end('{"email":"x"}'),
  "not UTF-8": (_, response) => response.writeHead(200, JSON_TYPE).end(Uint8Array.of(0x7b, 0xff, 0x7d)),
  "no answer but the end": (_, response) => response.destroy(),
};

const shown = (token: string) => ({ headers: { Authorization: `Bearer ${token}` } });

Deno.test("a token at which a provider fails locks out no genuine user, whatever the failure", async () => {
  // Fewer free failures (20 for tokens of an address) than bad tokens, in case these counted as failures.
  await using setting = await runWithEveryMethod({ "container.security.throttling.maxFailures": "1" });
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
    for (let i = 0; i < TURNS; i++) {
      // The same token again, a new one, and once a token that the service sends to no provider and refuses.
      const malformed = i === 0 ? [unsignedJwt({ sub: "bad-" }, { alg: "none" })] : [];
      const tokens = [`bad-${kind}`, `bad-${kind}-${i}`, ...malformed];
      const replies = await Promise.all(tokens.map((token) => system.ask("/rest/auth", shown(token))));
      assert.deepEqual(replies.map(({ status }) => status), [503, 503, ...malformed.map(() => 401)], what);
      bad += tokens.length;
      // A new token each time, so that no cached answer helps.
      const reply = await system.ask("/rest/auth", shown(`good-${kind}-${i}`));
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

Deno.test("no colon in a form's user name makes a provider see another user than login throttling does", async () => {
  await using setting = await runWithEveryMethod();
  const { system, unity } = setting;
  unity.known.add(basicHeader("ann", "first:second"));
  const asked = () =>
    unity.server.seen.filter(({ headers }) => /^Basic /.test(String(headers.authorization)));
  for (const user of ["ann:first", ":ann", "ann:"]) {
    assert.equal((await new Visitor(system).signIn([user, "second"])).status, 403, user);
  }
  assert.equal(asked().length, 0);
  await new Visitor(system).signIn(["ann", "first:second"]);
  assert.equal(asked().length, 1);
});

/** Length of an attack, in seconds. */
const SECONDS = 600;

const OAUTH: OAuthConfig = {
  ...OAUTH_CONFIG,
  name: "OAUTH",
  address: "https://idp.example/userinfo",
  assignments: assignments({ identity: `"UID="+email` }),
};

for (const attackers of [1, 2, 40]) {
  Deno.test(`one bad token a second from ${attackers} addresses never locks out a genuine user`, async () => {
    const time = { now: Date.UTC(2027, 0, 15, 8) };
    const asked = { bad: 0, genuine: 0 };
    const subject = new OAuth(OAUTH, {
      http: {
        send: ({ headers }) => {
          const said = headers?.Authorization ?? "";
          if (/bad-/.test(said)) {
            asked.bad++;
            return Promise.resolve({ status: 500, headers: {}, body: "NullPointerException" });
          }
          asked.genuine++;
          const [name = ""] = /good-\d+/.exec(said) ?? [];
          return Promise.resolve({
            status: 200,
            headers: {},
            body: JSON.stringify({ email: `${name}@a.example` }),
          });
        },
      },
      clock: () => time.now,
      elapsed: () => time.now,
      log: SILENT,
    });
    const { signal } = new AbortController();
    let kept = 0;
    try {
      for (let second = 0; second < SECONDS; second++) {
        const attacker = `198.51.${second % attackers}.7`;
        // A new token each time, so that no cached answer helps, and once a minute an earlier token again.
        const token = second % 60 === 59 ? "bad-0" : `bad-${second}`;
        await assert.rejects(subject.authenticate(bearer(token, attacker), signal), RemoteUnavailable);
        time.now += 500;
        // Genuine users log in now and then, each from an address without attackers.
        if (second % 3 === 0) {
          const result = await subject.authenticate(
            bearer(`good-${second}`, `192.0.${second % 100}.9`),
            signal,
          )
            .catch(() => undefined);
          if (result?.kind !== "accepted") kept++;
        }
        time.now += 500;
      }
    } finally {
      subject.close();
    }
    assert.equal(kept, 0, `${kept} of ${SECONDS / 3} genuine logins were kept out`);
    assert.equal(asked.genuine, SECONDS / 3);
    assert(asked.bad > 0);
  });
}
