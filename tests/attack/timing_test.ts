/** Whether the time of a refusal tells who exists: medians over a kept-alive connection, classes in turn. */
import assert from "node:assert/strict";
import { Agent } from "node:https";
import { formatScrypt, hashWithScrypt } from "../../src/authentication/password/scrypt_hash.ts";
import { ALICE, passwordLine, PASSWORDS, runService } from "../system/running_service.ts";

const SAMPLES = Deno.env.get("AUTHSERVER_LONG_TESTS") === undefined ? 150 : 2000;
/** Largest difference of two medians, in milliseconds. */
const MOST_MS = 1;

const cheap = formatScrypt(await hashWithScrypt("right", { ln: 4, r: 8, p: 1 }));
const many = Array.from({ length: 2000 }, (_, i) => passwordLine([`u${i}`, "x"], `CN=U${i}`)).join("");

for (
  const [what, passwords] of [
    ["MD5 lines alone", PASSWORDS + many],
    ["MD5 and scrypt lines", `${PASSWORDS}${many}sam:${cheap}::CN=Sam,O=Demo,C=EU\n`],
  ] as const
) {
  Deno.test(`with ${what} an unknown user is refused as fast as a known one, and with the same answer`, async () => {
    await using system = await runService({
      passwords,
      properties: { "container.security.regulation.enable": "false" },
    });
    const agent = new Agent({ keepAlive: true, maxSockets: 1, ca: system.authority.certificate });
    const callers: readonly (readonly [string, string])[] = [
      ["nobody", "guess"],
      [ALICE[0], "guess"],
      ["u1999", "guess"],
      ["u0", "y".repeat(200)],
      ["sam", "guess"],
    ];
    const answers = new Set<string>();
    const measure = async () => {
      const times = callers.map(() => [] as number[]);
      for (let i = -20; i < SAMPLES; i++) {
        for (const [at, as] of callers.entries()) {
          const began = performance.now();
          const reply = await system.ask("/rest/auth", { as, agent });
          const took = performance.now() - began;
          if (i >= 0) times[at]?.push(took);
          const { date: _date, "x-request-id": id, ...headers } = reply.headers;
          answers.add(`${reply.status} ${JSON.stringify(headers)} ${reply.text.replace(String(id), "")}`);
        }
      }
      return times.map((all) => all.toSorted((a, b) => a - b)[all.length >> 1] ?? NaN);
    };
    const gaps: string[] = [];
    let alike = false;
    // A busy machine may disturb one class more than another; what tells users apart shows every time.
    for (let i = 0; i < 3 && !alike; i++) {
      const medians = await measure();
      gaps.push(`medians ${medians.map((ms) => ms.toFixed(2)).join(", ")} ms`);
      alike = Math.max(...medians) - Math.min(...medians) < MOST_MS;
    }
    agent.destroy();
    assert.equal(answers.size, 1, [...answers].join("\n"));
    assert(alike, gaps.join("; "));
  });
}
