import { attempt } from "../../model/attempt.ts";
import { addressGroup } from "../../model/address.ts";
import { canonicalDn } from "../../model/distinguished_name.ts";
import { parseDuration } from "../../model/clock.ts";
import type { BanSubject } from "../../throttling/ban.ts";
import type { Call } from "../call.ts";
import type { Form } from "../form.ts";
import { invalidRequest } from "../../model/http_error.ts";
import type { AdminApi } from "./admin_api.ts";
import { InvalidAdminRequest, subjectOf } from "./admin_request.ts";

/** Longest ban on the page, in seconds; commands allow longer ones. */
const LONGEST = 366 * 86_400;

/** Bans or unbans by an administrator's form. @throws {ERR_INVALID_REQUEST} */
export async function changeBansByForm(
  call: Call,
  form: Form,
  admin: Pick<AdminApi, "ban" | "lift" | "namesOf">,
): Promise<void> {
  const lifts = form.get("do") === "lift";
  const subject = subjectIn(form);
  const seconds = parseDuration(form.get("for") ?? "");
  call.audit({ task: lifts ? "Lift" : "Ban", ...subject, done: false });
  if (lifts) return audit(call, await admin.lift(subject));
  if (seconds === undefined || seconds > LONGEST) {
    throw invalidRequest("Expected a time of at most 366 days, such as 30m, 12h or 7d");
  }
  if (await isOneself(call, subject, admin)) throw invalidRequest("You cannot ban yourself");
  audit(call, await admin.ban(subject, seconds));
}

function audit(call: Call, { change }: Awaited<ReturnType<AdminApi["ban"]>>): void {
  if (change !== undefined) call.audit({ ...change.facts, done: true });
}

function subjectIn(form: Form): BanSubject {
  const given = (name: string) => form.get(name)?.trim() || undefined;
  const subject = () => subjectOf({ user: given("user"), address: given("address") });
  return attempt(subject, InvalidAdminRequest, ({ message }) => {
    throw invalidRequest(message);
  });
}

async function isOneself(
  { caller, clientAddress, userName }: Call,
  { user, address }: BanSubject,
  admin: Pick<AdminApi, "namesOf">,
): Promise<boolean> {
  if (address !== undefined && addressGroup(address) !== addressGroup(clientAddress)) return false;
  if (user === undefined) return true;
  const names = await admin.namesOf(user);
  return user === userName ||
    (caller.kind === "authenticated" && names.includes(canonicalDn(caller.identity.dn)));
}
