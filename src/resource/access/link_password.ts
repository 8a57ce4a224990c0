import { epochSeconds } from "../../model/clock.ts";
import { createHmac } from "node:crypto";
import { waiterOf } from "../../authentication/requester_of.ts";
import { matchesScrypt, parseScrypt } from "../../authentication/password/stored_hash.ts";
import { HostCookie } from "../../model/cookie.ts";
import { sameSecret, type Secret } from "../../model/secret.ts";
import { httpError } from "../../model/http_error.ts";
import type { Share } from "../../sharing/share.ts";
import type { Call } from "../call.ts";
import type { SharingParts } from "../share/sharing_parts.ts";

const COOKIE_MAX_AGE = 8 * 3600; // seconds

/** Checks the password of a share, from Basic credentials without user name or from the cookie. @throws {ERR_LINK_PASSWORD} */
export async function checkLinkPassword(call: Call, share: Share, parts: SharingParts): Promise<void> {
  if (share.password === undefined) return;
  const shown = cookieOf(call, share).valueIn(call.request.headers.get("Cookie"));
  if (shown !== undefined && isToken(shown, share, parts)) return;
  if (call.linkPassword === undefined) throw httpError("ERR_LINK_PASSWORD", "none was shown");
  await tryLinkPassword(call, share, call.linkPassword, parts);
}

/** Verifies a link password, throttled per share and address. @throws {ERR_LINK_PASSWORD | ERR_TOO_MANY_FAILURES} */
export async function tryLinkPassword(
  { clientAddress, signal }: Pick<Call, "clientAddress" | "signal">,
  { server, id, password }: Share,
  shown: Secret,
  { guess, hashing }: SharingParts,
): Promise<void> {
  await guess({ link: `${server} ${id}`, clientAddress, signal }, async (knownAs) => {
    const hash = parseScrypt(password ?? "");
    if ("expected" in hash) throw httpError("ERR_LINK_PASSWORD", "its hash cannot be read");
    const waiter = waiterOf({ clientAddress, knownAs }, signal);
    if (!await hashing.run(() => matchesScrypt(hash, shown.reveal()), waiter)) {
      throw httpError("ERR_LINK_PASSWORD", "wrong");
    }
  });
}

/** Returns a `Set-Cookie` value that replaces the password. */
export function linkCookie(call: Pick<Call, "base">, share: Share, { clock }: SharingParts): string {
  const ends = epochSeconds(clock) + COOKIE_MAX_AGE;
  return cookieOf(call, share).set(`${ends}.${proof(share, ends)}`);
}

function cookieOf({ base }: Pick<Call, "base">, { id }: Share): HostCookie {
  return new HostCookie(`link-${id}`, base);
}

function isToken(shown: string, share: Share, { clock }: SharingParts): boolean {
  const [, end = "", given = ""] = /^(\d{1,12})\.([\w-]{43})$/.exec(shown) ?? [];
  const ends = Number(end);
  return end !== "" && ends >= clock() / 1000 && sameSecret(given, proof(share, ends));
}

/** Returns a MAC keyed with the stored hash, which is secret and changes with the password. */
function proof({ server, id, password = "" }: Share, ends: number): string {
  return createHmac("sha256", password).update(`${server}/${id}/${ends}`).digest("base64url");
}
