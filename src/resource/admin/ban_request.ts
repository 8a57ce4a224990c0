import { accountsOf } from "../../attributes/server_attributes.ts";
import { attempt } from "../../model/attempt.ts";
import { parseDuration } from "../../model/clock.ts";
import { type BanSubject, InvalidBanSubject, parseBanSubject } from "../../throttling/ban.ts";
import { attemptSubject } from "../../throttling/login_throttle.ts";
import { normalised } from "../../throttling/memory.ts";
import { applies } from "../../throttling/operator_bans.ts";
import type { Call } from "../call.ts";
import type { Form } from "../form.ts";
import { invalidRequest } from "../../model/http_error.ts";
import type { AdminApi } from "./admin_api.ts";

const LONGEST = 366 * 86_400; // longest ban on the page, in seconds; commands allow longer ones

/** Bans or unbans by an administrator's form. @throws {ERR_INVALID_REQUEST} */
export async function changeBansByForm(
  call: Call,
  form: Form,
  admin: Pick<AdminApi, "ban" | "lift" | "namesOf">,
): Promise<void> {
  const lifts = form.get("do") === "lift";
  const subject = subjectIn(form);
  call.audit({ task: lifts ? "Lift" : "Ban", ...subject, done: false });
  const seconds = lifts ? 0 : parseDuration(form.get("for") ?? "") ?? Infinity;
  if (seconds > LONGEST) throw invalidRequest("Expected a time of at most 366 days, such as 30m, 12h or 7d");
  if (!lifts && await isOneself(call, subject, admin)) throw invalidRequest("You cannot ban yourself");
  const { change } = await (lifts ? admin.lift(subject) : admin.ban(subject, seconds));
  if (change === undefined) {
    throw invalidRequest("No ban and no failed login of this user or address is known");
  }
  call.audit({ ...change.facts, done: true });
}

function subjectIn(form: Form): BanSubject {
  const given = (name: string) => form.get(name)?.trim() || undefined;
  const subject = () => parseBanSubject({ user: given("user"), address: given("address") });
  return attempt(subject, InvalidBanSubject, ({ message }) => {
    throw invalidRequest(`No ban: ${message}`);
  });
}

/** Reports whether a ban would apply to the administrator who requests it. */
async function isOneself(
  { caller, clientAddress: from, user }: Call,
  subject: BanSubject,
  admin: Pick<AdminApi, "namesOf">,
): Promise<boolean> {
  const names = subject.user === undefined ? undefined : await admin.namesOf(subject.user, true);
  return caller.kind === "authenticated" &&
    applies({ ...normalised(subject), names }, attemptSubject(caller.identity, from, accountsOf(user)));
}
