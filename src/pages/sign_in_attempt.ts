import { createHmac, randomBytes } from "node:crypto";
import { HostCookie } from "../model/cookie.ts";
import type { HttpResponse } from "../model/http_message.ts";
import { httpError } from "../model/http_error.ts";
import type { PartialCall } from "../resource/call.ts";

const ATTEMPT_SECONDS = 3600; // seconds for a sign-in, also at a provider

/** Sign-in attempt of a browser. All its values derive from a secret in the browser, so that unknown clients need no storage here. */
export class SignInAttempt {
  readonly #secret: string;
  readonly #cookie: HostCookie;

  private constructor(cookie: HostCookie, secret: string) {
    this.#cookie = cookie;
    this.#secret = secret;
  }

  /** Returns the browser's attempt, or a new one. */
  static of(call: Pick<PartialCall, "request" | "base">): SignInAttempt {
    const cookie = cookieOf(call);
    return new SignInAttempt(cookie, secretIn(cookie, call) ?? randomBytes(16).toString("base64url"));
  }

  /** @throws {ERR_PAGE_OUTDATED} Without an attempt. */
  static require(call: Pick<PartialCall, "request" | "base">): SignInAttempt {
    const cookie = cookieOf(call);
    const secret = secretIn(cookie, call);
    if (secret === undefined) throw httpError("ERR_PAGE_OUTDATED", "no cookie of the sign-in page");
    return new SignInAttempt(cookie, secret);
  }

  /** Derives a secret of 43 characters from the browser's secret and the words. */
  derive(...words: readonly string[]): string {
    return createHmac("sha256", this.#secret).update(JSON.stringify(words)).digest("base64url");
  }

  keep({ headers }: HttpResponse): void {
    headers.add("Set-Cookie", this.#cookie.set(this.#secret, ATTEMPT_SECONDS));
  }

  end({ headers }: HttpResponse): void {
    headers.add("Set-Cookie", this.#cookie.set("", 0));
  }
}

const ROOT = "https://root.invalid/root/";

/** Returns the page after sign-in, relative to the root; no other host, and nothing above the root, which may be another service. */
export function wantedPage(wanted: string | null): string {
  const isPlain = wanted !== null && wanted.length <= 1000 && /^[A-Za-z][\w.~%/?=&!'()*+-]*$/.test(wanted);
  return isPlain && new URL(wanted, ROOT).href.startsWith(ROOT) ? wanted : "";
}

function cookieOf({ base }: Pick<PartialCall, "base">): HostCookie {
  return new HostCookie("visit", base);
}

function secretIn(cookie: HostCookie, { request }: Pick<PartialCall, "request">): string | undefined {
  const shown = cookie.valueIn(request.headers.get("Cookie"));
  return shown !== undefined && /^[A-Za-z0-9_-]{22}$/.test(shown) ? shown : undefined;
}
