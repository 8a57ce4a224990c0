import { addressGroup } from "../../model/address_group.ts";
import { canonicalDn } from "../../model/distinguished_name.ts";
import { parseDuration } from "../../model/duration.ts";
import { type BanSubject, InvalidBanSubject, parseBanSubject } from "../../throttling/ban.ts";
import type { Call } from "../call.ts";
import type { Form } from "../form.ts";
import { invalidRequest } from "../invalid_request.ts";
import type { AdministratorsDesk } from "./administrators_desk.ts";

/** Longest ban by page, in seconds; the operator can make longer ones. */
const LONGEST = 366 * 86_400;

/** Whom the form of an administrator is about. @throws {ERR_INVALID_REQUEST} */
function subjectIn(form: Form): BanSubject {
  const given = (name: string) => form.get(name)?.trim() || undefined;
  try {
    return parseBanSubject({ user: given("user"), address: given("address") });
  } catch (error) {
    if (error instanceof InvalidBanSubject) throw invalidRequest(`No ban: ${error.message}`);
    throw error;
  }
}

/**
 * Keeps somebody out as the form says, but not the administrator who says so.
 * @param now Milliseconds since the epoch. @throws {ERR_INVALID_REQUEST}
 */
export async function banByForm(call: Call, form: Form, { desk, now }: {
  readonly desk: AdministratorsDesk;
  readonly now: number;
}): Promise<void> {
  const subject = subjectIn(form);
  const seconds = parseDuration(form.get("for") ?? "");
  if (seconds === undefined || seconds > LONGEST) {
    throw invalidRequest("Expected a time of at most 366 days, such as 30m, 12h or 7d");
  }
  const until = now + seconds * 1000;
  call.audit({ task: "Ban", ...subjectFacts(subject), until: new Date(until).toISOString(), done: false });
  if (await isOneself(call, subject, desk)) throw invalidRequest("You would keep yourself out");
  await desk.ban(subject, until);
  call.audit({ done: true });
}

/** Lets somebody in again. @throws {ERR_INVALID_REQUEST} */
export async function liftByForm(call: Call, form: Form, desk: AdministratorsDesk): Promise<void> {
  const subject = subjectIn(form);
  call.audit({ task: "Lift", ...subjectFacts(subject) });
  call.audit({ done: await desk.lift(subject) > 0 });
}

async function isOneself(
  { caller, clientAddress, userName }: Call,
  { user, address }: BanSubject,
  desk: AdministratorsDesk,
): Promise<boolean> {
  if (address !== undefined && addressGroup(address) !== addressGroup(clientAddress)) return false;
  if (user === undefined) return true;
  const names = await desk.namesOf(user);
  return user === userName ||
    (caller.kind === "authenticated" && names.includes(canonicalDn(caller.identity.dn)));
}

function subjectFacts({ user, address }: BanSubject) {
  return { user, address };
}
