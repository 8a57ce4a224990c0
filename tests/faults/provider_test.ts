/** Identity providers that hang, lie, close or fail: their users get 503, and nobody else notices. */
import assert from "node:assert/strict";
import type { Answer } from "../identity_provider/https_server.ts";
import { runWithEveryMethod, userToken } from "../system/every_method.ts";
import { ALICE } from "../system/running_service.ts";
import { causeIn, LONG, note, seconds } from "./fault_table.ts";

interface Fault {
  readonly what: string;
  readonly answer: Answer;
}

const FAULTS: readonly Fault[] = [
  { what: "never answers", answer: () => {} },
  { what: "closes the connection", answer: (_, response) => response.destroy() },
  { what: "answers 500", answer: (_, response) => response.writeHead(500).end("broken") },
  { what: "answers 429", answer: (_, response) => response.writeHead(429).end() },
  {
    what: "sends its answer byte by byte",
    answer: (_, response) => {
      response.writeHead(200, { "Content-Type": "application/json" });
      const drip = setInterval(() => response.write(" "), 100);
      response.on("close", () => clearInterval(drip));
    },
  },
  {
    what: "sends an answer without end",
    answer: (_, response) => {
      response.writeHead(200, { "Content-Type": "application/json" });
      const flood = () => {
        while (response.writable && response.write('{"a":"'.padEnd(65_536, "a")));
      };
      response.on("drain", flood);
      flood();
    },
  },
  {
    what: "answers with a page",
    answer: (_, response) =>
      response.writeHead(200, { "Content-Type": "text/html" }).end("<html>Sign in</html>"),
  },
  {
    what: "answers with half an object",
    answer: (_, response) =>
      response.writeHead(200, { "Content-Type": "application/json" }).end('{"email":"ann'),
  },
  {
    what: "sends us elsewhere",
    answer: (_, response) => response.writeHead(302, { Location: "https://evil.example/" }).end(),
  },
];

const TOKEN = { headers: { Authorization: "Bearer userinfo-token" } };
/** Shorter than what is usual, so that a hanging provider does not take 20 s. */
const TIMES = { "container.client.http.socket.timeout": "1500" };

for (const { what, answer } of FAULTS) {
  Deno.test(`an identity provider that ${what} means 503 for its users, and nothing for others`, async () => {
    await using setting = await runWithEveryMethod(TIMES);
    const { system, oidc, unity } = setting;
    for (const provider of [oidc, unity]) provider.fault = answer;
    const began = performance.now();
    const asking = system.ask("/rest/auth", TOKEN);
    const others = await Promise.all([
      system.ask("/rest/auth", { as: ALICE }),
      system.ask("/rest/auth", {
        headers: { Authorization: `Bearer ${userToken("alice", "user_ed25519")}` },
      }),
      system.ask("/rest/auth"),
    ]);
    assert.deepEqual(others.map((reply) => reply.status), [200, 200, 200]);
    const reply = await asking;
    const took = performance.now() - began;
    assert.equal(reply.status, 503, reply.text);
    assert(!/localhost|:\d{4,5}/.test(String(reply.json().errorMessage)), "nothing of addresses");
    assert(took < 15_000, `it took ${took} ms`);
    const line = await system.logged(new RegExp(`request answered.*request=${reply.json().requestId}`));

    for (const provider of [oidc, unity]) provider.fault = undefined;
    let after = "a provider that failed is left alone for a minute, then used again";
    if (LONG) {
      const mended = performance.now();
      while ((await system.ask("/rest/auth", TOKEN)).status !== 200) {
        assert(performance.now() - mended < 75_000, "not used again");
        await new Promise((resolve) => setTimeout(resolve, 500));
      }
      after = `used again ${seconds(mended)} after the fault`;
    }
    note({
      section: "Identity providers (OAUTH, UNITY)",
      fault: `the provider ${what}`,
      caller: `503 \`${reply.json().code}\` for its users`,
      log: causeIn(line),
      after: `passwords, SSH keys and anonymous callers unaffected; ${after}`,
    });
  });
}
