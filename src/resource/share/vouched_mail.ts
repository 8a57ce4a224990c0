import { localAttributes } from "../../attributes/server_attributes.ts";
import { isMailAddress } from "../../model/mail_address.ts";
import type { AccessLevel } from "../../sharing/share.ts";
import type { Call } from "../call.ts";
import { invalidRequest } from "../../model/http_error.ts";
import type { SharingParts } from "./sharing_parts.ts";

/** Returns the caller's mail address, if the login or an attribute source of a server vouches for it. */
export function verifiedMail(
  { caller, user }: Pick<Call, "caller" | "user">,
  server: string,
): string | undefined {
  const { extra } = localAttributes(user, server);
  const mail = (caller.kind === "authenticated" ? caller.identity.mail : undefined) ?? extra.get("mail")?.[0];
  return mail !== undefined && isMailAddress(mail) ? mail : undefined;
}

/** Returns the address for mail about files that arrive. @throws {ERR_INVALID_REQUEST} */
export function ownerMail(
  call: Call,
  server: string,
  access: AccessLevel,
  { mails }: Pick<SharingParts, "mails">,
): string {
  if (access === "READ") throw invalidRequest("notify: a share with access READ receives no files");
  if (!mails) throw invalidRequest("notify: this service sends no mail");
  const mail = verifiedMail(call, server);
  const missing = "notify: your login gives no verified mail address";
  if (mail === undefined) throw call.user.outage ?? invalidRequest(missing);
  return mail;
}
