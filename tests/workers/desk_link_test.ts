import assert from "node:assert/strict";
import { answerDesk, ask, DeskCaller, NoAnswer } from "../../src/workers/desk_link.ts";
import type { Ban } from "../../src/throttling/ban.ts";
import type { DeskAnswer, DeskQuestion } from "../../src/service/operator_desk.ts";

/** A caller, and at the other end a desk with this answer. */
function channel(answer: (question: DeskQuestion) => Promise<DeskAnswer>): DeskCaller & Disposable {
  const { port1, port2 } = new MessageChannel();
  answerDesk(port1, answer);
  const caller = new DeskCaller(port2);
  return Object.assign(caller, {
    [Symbol.dispose]: () => {
      caller.close();
      port1.close();
    },
  });
}

const BAN: Ban = { user: "ann", reason: "operator", failures: 0, until: 1 };
const STATE = {
  asOf: 2,
  pairs: [],
  addresses: [],
  users: [],
  tokens: [],
  known: [["k", 1]],
  operator: [BAN],
} as const;

Deno.test("answers find their questions, whatever their order", async () => {
  const late = Promise.withResolvers<DeskAnswer>();
  using desk = channel((question) =>
    question.about === "bans" ? late.promise : Promise.resolve({ about: "adopt" })
  );
  const first = ask(desk, { about: "bans" }, 5000);
  assert.deepEqual(await ask(desk, { about: "adopt", news: STATE }, 5000), { about: "adopt" });
  late.resolve({ about: "bans", bans: [BAN], total: 1 });
  assert.deepEqual((await first).bans, [BAN]);
});

Deno.test("whoever asks a desk is told what it throws, and when it takes too long or ends", async () => {
  using desk = channel((question) =>
    question.about === "status" ? Promise.reject(new Error("out of order")) : new Promise(() => {})
  );
  await assert.rejects(ask(desk, { about: "status" }, 5000), { name: "NoAnswer", message: "out of order" });
  await assert.rejects(ask(desk, { about: "bans" }, 10), /did not answer within 0\.01 s/);
  const waiting = ask(desk, { about: "bans" }, 5000);
  desk.close();
  await assert.rejects(waiting, /the core has ended/);
  await assert.rejects(ask(desk, { about: "bans" }, 5000), NoAnswer);
});

Deno.test("an answer to another question is none", async () => {
  using desk = channel(() => Promise.resolve({ about: "adopt" }));
  await assert.rejects(ask(desk, { about: "bans" }, 5000), /answered another question/);
});
