/** Whether the time of a refusal tells who exists: medians over a kept-alive connection, classes in turn. */
import assert from "node:assert/strict";
import { Agent } from "node:https";
import { formatScrypt, hashWithScrypt } from "../../src/authentication/password/scrypt_hash.ts";
import { LONG, note } from "../long/results.ts";
import { ALICE, passwordLine, PASSWORDS, runService } from "../system/running_service.ts";

const SAMPLES = LONG ? 2000 : 150;
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
    let gap = Infinity;
    // A busy machine may disturb one class more than another; what tells users apart shows every time.
    for (let i = 0; i < 3 && gap >= MOST_MS; i++) {
      const medians = await measure();
      gaps.push(`medians ${medians.map((ms) => ms.toFixed(2)).join(", ")} ms`);
      gap = Math.max(...medians) - Math.min(...medians);
    }
    agent.destroy();
    assert.equal(answers.size, 1, [...answers].join("\n"));
    assert(gap < MOST_MS, gaps.join("; "));
    note("trials", {
      trial: `finding out who exists by the time of a refusal, with ${what}`,
      done: `${SAMPLES} guesses at each of ${callers.length} kinds of user, in turn`,
      outcome: `medians at most ${gap.toFixed(2)} ms apart; same status, headers and body`,
    });
  });
}
