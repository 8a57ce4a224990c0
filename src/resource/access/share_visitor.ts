import { createHash, randomBytes } from "node:crypto";
import { HostCookie } from "../../model/cookie.ts";
import type { Share } from "../../sharing/share.ts";
import type { Call } from "../call.ts";

const COOKIE_MAX_AGE = 3600; // seconds in which a browser can continue its use of a limited share

/** Returns the browser that uses a limited share, by a cookie for each share; without one it gets a random one. */
export function shareVisitor({ request, base }: Pick<Call, "request" | "base">, { id }: Share) {
  const cookie = new HostCookie(`use-${id}`, base);
  const shown = cookie.valueIn(request.headers.get("Cookie"));
  const token = shown !== undefined && /^[\w-]{22}$/.test(shown)
    ? shown
    : randomBytes(16).toString("base64url");
  return {
    digest: createHash("sha256").update(token).digest("base64url"), // the store holds no cookies
    cookie: cookie.set(token, COOKIE_MAX_AGE), // value of `Set-Cookie`
  };
}
