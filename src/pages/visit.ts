import { createHmac, randomBytes } from "node:crypto";
import { HostCookie } from "../model/cookie.ts";
import type { HttpResponse } from "../model/http_message.ts";
import { httpError } from "../model/http_error.ts";
import type { Call } from "../resource/call.ts";

/** What a page is made from, whoever calls. */
export type Asked = Pick<Call, "request" | "query" | "base" | "root">;

/** How long a sign-in page can be left open, and how long signing in at a provider may take, in seconds. */
const VISIT_SECONDS = 3600;

/**
 * A browser in which somebody is about to sign in. It has a secret, which all that belongs to the attempt is made of, so that
 * nothing needs to be kept here for strangers, and nobody goes on with what another browser has begun.
 */
export class Visit {
  readonly #secret: string;
  readonly #cookie: HostCookie;

  private constructor(cookie: HostCookie, secret: string) {
    this.#cookie = cookie;
    this.#secret = secret;
  }

  /** The one that the browser shows, or a new one. */
  static of(asked: Asked): Visit {
    const cookie = cookieOf(asked);
    return new Visit(cookie, secretIn(cookie, asked) ?? randomBytes(16).toString("base64url"));
  }

  /** @throws {ERR_PAGE_OUTDATED} If the browser shows none. */
  static shownBy(asked: Asked): Visit {
    const cookie = cookieOf(asked);
    const secret = secretIn(cookie, asked);
    if (secret === undefined) throw httpError("ERR_PAGE_OUTDATED", "no cookie of the sign-in page");
    return new Visit(cookie, secret);
  }

  /** A text of 43 characters that only this browser can be told, the same for the same words. */
  derive(...words: readonly string[]): string {
    return createHmac("sha256", this.#secret).update(JSON.stringify(words)).digest("base64url");
  }

  /** Has the browser keep it. */
  keep({ headers }: HttpResponse): void {
    headers.add("Set-Cookie", this.#cookie.set(this.#secret, VISIT_SECONDS));
  }

  /** Has the browser forget it. */
  end({ headers }: HttpResponse): void {
    headers.add("Set-Cookie", this.#cookie.set("", 0));
  }
}

/** Stands for the root, wherever that is. */
const ROOT = "https://root.invalid/root/";

/**
 * Page to which a browser goes once it is signed in, relative to the root: one of ours. Without colon and backslash and with
 * a letter at its begin it can name no other host; what leads above the root could be another's behind the same gateway.
 */
export function wantedPage(wanted: string | null): string {
  const isPlain = wanted !== null && wanted.length <= 1000 && /^[A-Za-z][\w.~%/?=&-]*$/.test(wanted);
  return isPlain && new URL(wanted, ROOT).href.startsWith(ROOT) ? wanted : "";
}

function cookieOf({ base }: Asked): HostCookie {
  return new HostCookie("visit", base);
}

function secretIn(cookie: HostCookie, { request }: Asked): string | undefined {
  const shown = cookie.valueIn(request.headers.get("Cookie"));
  return shown !== undefined && /^[A-Za-z0-9_-]{22}$/.test(shown) ? shown : undefined;
}
