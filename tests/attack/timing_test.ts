/** Whether the time of a refusal reveals which users exist, by kinds of user in turn over one connection. */
import assert from "node:assert/strict";
import { Agent } from "node:https";
import { PasswordCheck } from "../../src/authentication/password/password_check.ts";
import { parsePasswordFile } from "../../src/authentication/password/password_table.ts";
import { formatScrypt, hashWithScrypt } from "../../src/authentication/password/stored_hash.ts";
import { LONG, note } from "../long/results.ts";
import { ALICE, passwordLine, PASSWORDS, runService } from "../system/running_service.ts";

const SAMPLES = LONG ? 2000 : 40;
const MANY = Array.from({ length: 2000 }, (_, i) => passwordLine([`u${i}`, "x"], `CN=U${i}`)).join("");
/** User whose scrypt hash is cheap, but slow enough to measure. */
const SAM = ["sam", "right"] as const;
const SAM_LINE = `sam:${
  formatScrypt(await hashWithScrypt(SAM[1], { ln: 11, r: 8, p: 1 }))
}::CN=Sam,O=Demo,C=EU\n`;

/** Callers whose refusals must not differ. */
const CALLERS: readonly (readonly [string, string])[] = [
  ["nobody", "guess"],
  [ALICE[0], "guess"],
  ["u1999", "guess"],
  ["u0", "y".repeat(200)],
  [SAM[0], "guess"],
];

/** Returns the lower quartile: other programs make times longer, never shorter. */
const quartile = (all: readonly number[]) => all.toSorted((a, b) => a - b)[all.length >> 2] ?? NaN;
const spread = (all: readonly number[]) => Math.max(...all) - Math.min(...all);

/**
 * Measures up to three times, because a busy machine may disturb one kind of user more than another, whereas
 * a real difference shows every time. Fails if it does. @returns The last difference.
 */
async function notApart(
  measure: () => Promise<
    { readonly times: readonly number[]; readonly difference: number; readonly most: number }
  >,
): Promise<number> {
  const seen: string[] = [];
  for (let i = 0;; i++) {
    const { times, difference, most } = await measure();
    if (difference < most) return difference;
    seen.push(`${times.map((ms) => ms.toFixed(3)).join(", ")} ms, apart by more than ${most.toFixed(3)}`);
    assert(i < 2, seen.join("; "));
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
      properties: { "container.security.throttling.enable": "false" },
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
      const right: number[] = [];
      for (let i = -10; i < SAMPLES; i++) {
        for (const [at, as] of CALLERS.entries()) {
          const { reply, took } = await timed(as);
          if (i >= 0) times[at]?.push(took);
          const { date: _date, "x-request-id": id, ...headers } = reply.headers;
          answers.add(`${reply.status} ${JSON.stringify(headers)} ${reply.text.replace(String(id), "")}`);
        }
        right.push((await timed(ALICE)).took);
      }
      const found = times.map(quartile);
      // A correct password with MD5 skips the comparison with scrypt, so the limit is half the time of
      // scrypt. Without scrypt, it is half the time of a login.
      const login = quartile(right);
      const most = withScrypt ? (Math.min(...found) - login) / 2 : login / 2;
      return { times: found, difference: spread(found), most };
    };
    const apart = await notApart(measure);
    assert.equal(answers.size, 1, [...answers].join("\n"));
    assert.equal((await timed(SAM)).reply.status, withScrypt ? 200 : 401, "the service reads the line");
    agent.destroy();
    note("trials", {
      trial: `user enumeration by the time of a refusal, with ${what}`,
      done: `${SAMPLES} guesses at each of ${CALLERS.length} kinds of user, in turn`,
      outcome: `lower quartiles at most ${apart.toFixed(2)} ms apart; same status, headers and body`,
    });
  });
}

Deno.test("a comparison with MD5, too short to be seen over a connection, is made for everybody", async () => {
  const table = await parsePasswordFile(PASSWORDS + MANY, "users.txt");
  const check = new PasswordCheck();
  const waiter = { queueKey: "", known: false, signal: new AbortController().signal };
  const measure = async () => {
    const times = CALLERS.map(() => [] as number[]);
    for (let i = -5; i < 40; i++) {
      for (const [at, [user]] of CALLERS.entries()) {
        const began = performance.now();
        for (let j = 0; j < 250; j++) await check.entryOf(table, user, "guess", waiter);
        if (i >= 0) times[at]?.push(performance.now() - began);
      }
    }
    const found = times.map(quartile);
    // The lookup of a name alone takes a tenth.
    return { times: found, difference: spread(found), most: Math.min(...found) };
  };
  await notApart(measure);
});
