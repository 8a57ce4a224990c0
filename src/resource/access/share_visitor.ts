import { createHash, randomBytes } from "node:crypto";
import { HostCookie } from "../../model/cookie.ts";
import type { Share } from "../../sharing/share.ts";
import type { Call } from "../call.ts";

/** Seconds in which a browser can continue its use of a limited share. */
const REMEMBERED = 3600;

/** Browser that uses a limited share, known by a cookie of its own for each share. */
interface ShareVisitor {
  readonly digest: string; // digest of the cookie: the store holds no cookies
  readonly cookie: string; // value of `Set-Cookie`
}

/** Returns the visitor of a request; a browser without cookie gets a random one. */
export function shareVisitor({ request, base }: Pick<Call, "request" | "base">, { id }: Share): ShareVisitor {
  const cookie = new HostCookie(`use-${id}`, base);
  const shown = cookie.valueIn(request.headers.get("Cookie"));
  const token = shown !== undefined && /^[\w-]{22}$/.test(shown)
    ? shown
    : randomBytes(16).toString("base64url");
  return {
    digest: createHash("sha256").update(token).digest("base64url"),
    cookie: cookie.set(token, REMEMBERED),
  };
}
