/** Whether the time of a refusal tells who exists: medians over a kept-alive connection, kinds of user in turn. */
import assert from "node:assert/strict";
import { Agent } from "node:https";
import { PasswordCheck } from "../../src/authentication/password/password_check.ts";
import { parsePasswordFile } from "../../src/authentication/password/password_table.ts";
import { formatScrypt, hashWithScrypt } from "../../src/authentication/password/scrypt_hash.ts";
import { LONG, note } from "../long/results.ts";
import { ALICE, passwordLine, PASSWORDS, runService } from "../system/running_service.ts";

const SAMPLES = LONG ? 2000 : 60;
/** Largest difference of two medians, in milliseconds. */
const MOST_MS = 1;
const MANY = Array.from({ length: 2000 }, (_, i) => passwordLine([`u${i}`, "x"], `CN=U${i}`)).join("");
/** The least cost that the service takes, and several times {@link MOST_MS}. */
const SAM = ["sam", "right"] as const;
const SAM_LINE = `sam:${
  formatScrypt(await hashWithScrypt(SAM[1], { ln: 11, r: 8, p: 1 }))
}::CN=Sam,O=Demo,C=EU\n`;

/** Callers whom nobody may tell apart by how they are refused. */
const CALLERS: readonly (readonly [string, string])[] = [
  ["nobody", "guess"],
  [ALICE[0], "guess"],
  ["u1999", "guess"],
  ["u0", "y".repeat(200)],
  [SAM[0], "guess"],
];

const median = (all: readonly number[]) => all.toSorted((a, b) => a - b)[all.length >> 1] ?? NaN;
const spread = (all: readonly number[]) => Math.max(...all) - Math.min(...all);

/** Tries up to three times: a busy machine may disturb one kind of user more than another; what tells users apart shows every time. */
async function leastOf(
  most: number,
  measure: () => Promise<readonly number[]>,
  differ: (all: readonly number[]) => number,
) {
  const seen: string[] = [];
  for (let i = 0;; i++) {
    const medians = await measure();
    const gap = differ(medians);
    seen.push(medians.map((value) => value.toFixed(3)).join(", "));
    if (gap < most) return gap;
    assert(i < 2, `medians in milliseconds: ${seen.join("; ")}`);
  }
}

for (
  const [what, passwords, withScrypt] of [
    ["MD5 lines alone", PASSWORDS + MANY, false],
    ["MD5 and scrypt lines", PASSWORDS + MANY + SAM_LINE, true],
  ] as const
) {
  Deno.test(`with ${what} an unknown user is refused as fast as a known one, and with the same answer`, async () => {
    await using system = await runService({
      passwords,
      properties: { "container.security.regulation.enable": "false" },
    });
    const agent = new Agent({ keepAlive: true, maxSockets: 1, ca: system.authority.certificate });
    const answers = new Set<string>();
    const timed = async (as: readonly [string, string]) => {
      const began = performance.now();
      const reply = await system.ask("/rest/auth", { as, agent });
      return { reply, took: performance.now() - began };
    };
    const measure = async () => {
      const times = CALLERS.map(() => [] as number[]);
      for (let i = -10; i < SAMPLES; i++) {
        for (const [at, as] of CALLERS.entries()) {
          const { reply, took } = await timed(as);
          if (i >= 0) times[at]?.push(took);
          const { date: _date, "x-request-id": id, ...headers } = reply.headers;
          answers.add(`${reply.status} ${JSON.stringify(headers)} ${reply.text.replace(String(id), "")}`);
        }
      }
      return times.map(median);
    };
    const gap = await leastOf(MOST_MS, measure, spread);
    assert.equal(answers.size, 1, [...answers].join("\n"));
    // What is not done for somebody would show: a right password with MD5 spares the rest of the work.
    const { reply } = await timed(SAM);
    assert.equal(reply.status, withScrypt ? 200 : 401, "the service reads the line");
    if (withScrypt) {
      const right: number[] = [];
      const wrong: number[] = [];
      for (let i = 0; i < 50; i++) {
        right.push((await timed(ALICE)).took);
        wrong.push((await timed(["nobody", "guess"])).took);
      }
      assert(median(wrong) - median(right) > MOST_MS, "too coarse to see one comparison with scrypt");
    }
    agent.destroy();
    note("trials", {
      trial: `finding out who exists by the time of a refusal, with ${what}`,
      done: `${SAMPLES} guesses at each of ${CALLERS.length} kinds of user, in turn`,
      outcome: `medians at most ${gap.toFixed(2)} ms apart; same status, headers and body`,
    });
  });
}

Deno.test("a comparison with MD5, too short to be seen over a connection, is made for everybody", async () => {
  const table = await parsePasswordFile(PASSWORDS + MANY, "users.txt");
  const check = new PasswordCheck({ now: Date.now });
  const { signal } = new AbortController();
  const measure = async () => {
    const times = CALLERS.map(() => [] as number[]);
    for (let i = -5; i < 40; i++) {
      for (const [at, [user]] of CALLERS.entries()) {
        const began = performance.now();
        for (let j = 0; j < 250; j++) await check.entryOf(table, user, "guess", signal);
        if (i >= 0) times[at]?.push(performance.now() - began);
      }
    }
    return times.map(median);
  };
  // Looking up a name alone takes a tenth.
  await leastOf(2, measure, (all) => Math.max(...all) / Math.min(...all));
});
