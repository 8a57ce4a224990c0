import { epochSeconds } from "../../model/clock.ts";
import { createHmac, hash, randomBytes } from "node:crypto";
import { HostCookie } from "../../model/cookie.ts";
import { canonicalDn } from "../../model/distinguished_name.ts";
import type { Identity } from "../../model/identity.ts";
import { httpError } from "../../model/http_error.ts";
import { isJsonObject } from "../../model/json_object.ts";
import type { StoredRecord } from "../../store/record_store.ts";
import { type AccountLookup, currentIdentity } from "../account_status.ts";
import type { EndedLogins, ProviderSession } from "../authenticator.ts";
import { type EndedBrowser, MAX_LOGINS, type ProviderLoginParts, ProviderLogins } from "./provider_logins.ts";
import { isStoredIdentity, type StoredIdentity } from "./stored_identity.ts";

export interface SignIn {
  readonly identity: Omit<Identity, "issuedToken">;
  readonly userName: string | undefined; // present after a password login
  readonly ends: number; // absolute end, in seconds since the epoch
  readonly idleMinutes: number;
  readonly formToken: string; // CSRF token for forms
  readonly active: () => void; // records that the browser is not idle
}

interface ProvenLogin {
  readonly identity: StoredIdentity;
  readonly userName?: string;
  readonly session?: ProviderSession;
  readonly began?: number; // when the service asked the provider, in milliseconds since the epoch
}

/** Record kinds: the sign-in, and its last activity; both are required. */
const [SIGNED_IN, ACTIVITY] = ["sign-in", "sign-in-heard-of"];
const MOST_OF_A_USER = 20; // per user; the longest idle one is removed
const ACTIVITY_STEP = 1 / 30; // part of the idle time within which activity is not recorded again

/** Browser sign-ins by 128 random bits, stored as a digest; each ends when idle, at sign-out, or with the user. */
export class SignIns {
  readonly #logins: ProviderLogins;

  constructor(
    readonly parts: {
      readonly accountStatus: AccountLookup;
      readonly limits: { readonly idleSeconds: number; readonly maxSeconds: number };
      readonly revokeBrowserTokens: (owner: string, browser: string) => Promise<void>;
      /** Whether an authenticator signs in browsers at this instance; `isRenewed`: by a provider. */
      readonly signsIn: (via: string, isRenewed: boolean) => boolean;
    } & ProviderLoginParts,
  ) {
    this.#logins = new ProviderLogins(parts, (browser) => this.#endBrowsers([browser]));
  }

  /** Returns the browser's new secret. @throws {ERR_RECORD_STORE | ERR_LOGIN_NOT_DERIVABLE} */
  async begin({ identity, userName, session, began = this.parts.clock() }: ProvenLogin): Promise<string> {
    const token = randomBytes(16).toString("base64url");
    const made = epochSeconds(this.parts.clock);
    const derived = this.parts.derivedUntil(identity);
    const isRenewed = session?.refreshToken !== undefined;
    const longest = isRenewed ? this.parts.derivedUntil({ ...identity, proved: Infinity }) : derived;
    const ends = Math.floor(Math.min(made + this.parts.limits.maxSeconds, longest));
    if (Math.min(ends, Math.floor(derived)) <= made) throw httpError("ERR_LOGIN_NOT_DERIVABLE");
    const record = { key: digestOf(token), owner: canonicalDn(identity.dn), made, ends };
    const authTime = identity.authTime === "now" ? made : identity.authTime;
    const stored = { proved: made, ...identity, authTime };
    const content = { identity: stored, userName, isRenewed };
    if (session !== undefined) {
      await this.#endBrowsers(await this.#logins.begin(token, stored, { record, session }));
    }
    await this.parts.records().put(SIGNED_IN, { ...record, content }, MAX_LOGINS);
    await this.#recordActivity(record);
    if (session !== undefined && await this.#logins.isEnded(identity.via, session, began)) {
      await this.#endBrowsers([record]);
      throw httpError("ERR_LOGIN_NOT_DERIVABLE", "the provider has ended the login since it began");
    }
    return token;
  }

  /** Returns the sign-in of a secret. @throws {ERR_RECORD_STORE} Also what the user's source throws. */
  async find(token: string, signal: AbortSignal): Promise<SignIn | undefined> {
    if (!/^[A-Za-z0-9_-]{22}$/.test(token)) return undefined;
    const records = this.parts.records();
    const key = digestOf(token);
    const [signedIn, activity] = [await records.get(SIGNED_IN, key), await records.get(ACTIVITY, key)];
    if (signedIn === undefined || activity === undefined) return undefined;
    const { content, owner, made, ends } = signedIn;
    const { identity: first, userName, isRenewed } = isJsonObject(content) ? content : {};
    // Ends nothing that this version or configuration does not accept: other instances may accept it.
    if (!isStoredIdentity(first) || !this.parts.signsIn(first.via, isRenewed === true)) return undefined;
    const identity = isRenewed === true ? await this.#logins.current(token, signedIn, signal) : first;
    if (identity === undefined || this.parts.derivedUntil(identity) <= this.parts.clock() / 1000) {
      return undefined;
    }
    const left = await currentIdentity(identity, this.parts.accountStatus, signal);
    if (left === undefined) {
      await this.end(token);
      return undefined;
    }
    const { idleSeconds } = this.parts.limits;
    // The database reports failures; the last record stays valid.
    const active = () => void this.#recordActivity({ key, owner, made }).catch(() => {});
    if (activity.ends - epochSeconds(this.parts.clock) < idleSeconds * (1 - ACTIVITY_STEP)) active();
    return {
      identity: { ...left, browser: { id: key, ends } },
      userName: typeof userName === "string" ? userName : undefined,
      ends,
      idleMinutes: Math.floor(idleSeconds / 60),
      formToken: formTokenOf(token),
      active,
    };
  }

  /** Ends a sign-in, without its user's source; returns its authenticator. @throws {ERR_RECORD_STORE} */
  async end(token: string): Promise<string | undefined> {
    const key = digestOf(token);
    const signedIn = await this.parts.records().get(SIGNED_IN, key);
    await this.#end(key);
    const { identity } = isJsonObject(signedIn?.content) ? signedIn.content : {};
    return isStoredIdentity(identity) ? identity.via : undefined;
  }

  /** Ends sessions that a provider ended, and their tokens; returns the number. @throws {ERR_RECORD_STORE} */
  async endLogins(via: string, ended: EndedLogins): Promise<number> {
    const browsers = await this.#logins.endedBy(via, ended);
    await this.#endBrowsers(browsers);
    return browsers.length;
  }

  async #endBrowsers(browsers: readonly EndedBrowser[]): Promise<void> {
    for (const { key, owner } of browsers) {
      await this.parts.revokeBrowserTokens(owner, key); // first: the next attempt ends a browser that remains
      await this.#end(key);
    }
  }

  async #end(key: string): Promise<void> {
    const records = this.parts.records();
    await records.remove(SIGNED_IN, key);
    await records.remove(ACTIVITY, key);
    await this.#logins.forget(key);
  }

  /** Signs out a banned user's browsers; if the store fails, the ban stops their next requests. @param owner Canonical DN. */
  async endAllOf(owner: string): Promise<void> {
    try {
      const records = this.parts.records();
      await records.removeOf(SIGNED_IN, owner);
      await records.removeOf(ACTIVITY, owner);
    } catch (error) {
      this.parts.log.warn("banned user not signed out", { error });
    }
  }

  /** Stores the activity separately: rewriting the sign-in could restore a browser that just signed out. */
  async #recordActivity(record: Pick<StoredRecord, "key" | "owner" | "made">): Promise<void> {
    const ends = epochSeconds(this.parts.clock) + this.parts.limits.idleSeconds;
    await this.parts.records().put(ACTIVITY, { ...record, ends, content: {} }, MOST_OF_A_USER);
  }
}

/** Derives the CSRF token for forms, so that it needs no storage and does not reveal the secret. */
export function formTokenOf(token: string): string {
  return createHmac("sha256", token).update("form").digest("base64url");
}

/** Returns the key of a secret's record. */
export function digestOf(token: string): string {
  return hash("sha256", token, "base64url");
}

/** Returns the cookie of sign-ins. @param base Base URL. */
export function signInCookie(base: string): HostCookie {
  return new HostCookie("sign-in", base);
}
