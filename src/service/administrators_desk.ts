import type { Authenticator } from "../authentication/authenticator.ts";
import type { LoginThrottle } from "../throttling/login_throttle.ts";
import type { AdministratorsDesk } from "../resource/admin/administrators_desk.ts";
import { claimedName } from "./claimed_name.ts";
import {
  type AnswerAbout,
  type DeskQuestion,
  isAbout,
  type OperatorDesk,
  type Ordered,
} from "./operator_desk.ts";

/** Failed logins that are listed. */
const MOST_FAILURES = 50;

/** The operator's desk, for administrators. */
export function administratorsDesk(
  desk: OperatorDesk,
  { authenticators, throttle, ordered = () => {} }: {
    readonly authenticators: readonly Authenticator[];
    readonly throttle: LoginThrottle;
    /** Told of what was ordered here, for all who have to follow it. */
    readonly ordered: Ordered | undefined;
  },
): AdministratorsDesk {
  const namesOf = async (user: string) => (await ask(desk, { about: "names", user })).names.names;
  return {
    status: async () => (await ask(desk, { about: "status" })).status,
    bans: () => ask(desk, { about: "bans" }),
    failures: () => throttle.memory.failures(MOST_FAILURES),
    shown: (user) => claimedName(user, authenticators),
    namesOf,
    async ban(subject, until) {
      const names = subject.user === undefined ? undefined : await namesOf(subject.user);
      const order = { about: "ban", subject: { ...subject, names }, until } as const;
      ordered(order, await ask(desk, order));
    },
    async lift(subject) {
      const order = { about: "lift", subject } as const;
      const answer = await ask(desk, order);
      if (answer.lifted > 0) ordered(order, answer);
      return answer.lifted;
    },
  };
}

async function ask<K extends DeskQuestion["about"]>(
  desk: OperatorDesk,
  question: DeskQuestion & { readonly about: K },
): Promise<AnswerAbout<K>> {
  const answer = await desk.answer(question);
  if (isAbout(answer, question.about)) return answer;
  throw new TypeError("the desk answered another question");
}
