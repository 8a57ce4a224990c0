import { createHmac, hash, randomBytes } from "node:crypto";
import { HostCookie } from "../../model/cookie.ts";
import { canonicalDn } from "../../model/distinguished_name.ts";
import type { Identity } from "../../model/identity.ts";
import { httpError } from "../../model/http_error.ts";
import { isJsonObject } from "../json_object.ts";
import { type AskAccountStatus, whatIsLeft } from "../account_status.ts";
import type { EndedLogins, ProviderSession } from "../authenticator.ts";
import { type ProviderLoginParts, ProviderLogins } from "./provider_logins.ts";
import { isKeptIdentity, type KeptIdentity } from "./kept_identity.ts";

/** A browser that somebody has signed in with. */
export interface SignIn {
  readonly identity: Omit<Identity, "issuedToken">;
  /** Name of a user who typed it with a password. */
  readonly userName: string | undefined;
  /** In seconds since the epoch, however much it is used. */
  readonly ends: number;
  /** Without a request it ends after so long. */
  readonly idleMinutes: number;
  /** What forms of its pages carry, so that nobody else can have the browser send them. */
  readonly formToken: string;
}

/** How long browsers stay signed in, in seconds. */
interface SignInLimits {
  /** Without a request. */
  readonly idleSeconds: number;
  readonly maxSeconds: number;
}

/** What is said of somebody who has just proved who they are. */
interface Proved {
  readonly identity: KeptIdentity;
  readonly userName?: string;
  /** Moment from which on the proof counts no more, in seconds since the epoch. */
  readonly until?: number;
  /** Of a login at a provider. */
  readonly session?: ProviderSession;
}

/** Kinds of records: that somebody has signed in, and that the browser was heard of not long ago. Either alone is nothing. */
const [SIGNED_IN, HEARD_OF] = ["sign-in", "sign-in-heard-of"];
/** Browsers of one user; of more, the one goes that was not heard of for longest. */
const MOST_OF_A_USER = 20;
/** What part of the idle time may go by before it is noted that a browser was heard of. */
const NOTED = 1 / 30;

/**
 * Browser sessions. Each shows 128 random bits, of which the store has a digest: whoever reads the store cannot
 * sign in. They end when they are idle, after their longest time, when they sign out, and when their user is gone or banned.
 */
export class SignIns {
  readonly #logins: ProviderLogins;

  constructor(
    readonly parts: {
      readonly accountStatus: AskAccountStatus;
      /** Until when what is derived from a login now may last, in seconds since the epoch. */
      readonly derivedUntil: (identity: Identity) => number;
      readonly limits: SignInLimits;
      /** Revokes the tokens that a user got with one browser. */
      readonly revokeGot: (owner: string, browser: string) => Promise<void>;
    } & ProviderLoginParts,
  ) {
    this.#logins = new ProviderLogins(parts);
  }

  /** @returns What the browser has to show from now on. @throws {ERR_RECORD_STORE} */
  async begin({ identity, userName, until = Infinity, session }: Proved): Promise<string> {
    const token = randomBytes(16).toString("base64url");
    const made = this.#now();
    const derived = this.parts.derivedUntil(identity);
    const isRenewed = session?.refreshToken !== undefined;
    const longest = made + this.parts.limits.maxSeconds;
    const ends = Math.floor(Math.min(longest, until, isRenewed ? Infinity : derived));
    if (Math.min(ends, Math.floor(derived)) <= made) throw httpError("ERR_LOGIN_NOT_DERIVABLE");
    const record = { key: digestOf(token), owner: canonicalDn(identity.dn), made };
    const authTime = identity.authTime === "now" ? made : identity.authTime;
    const kept = { proved: made, ...identity, authTime };
    const content = { identity: kept, userName, isRenewed };
    if (session !== undefined) {
      await this.#logins.begin(token, kept, { record: { ...record, ends }, session });
    }
    await this.parts.records().put(SIGNED_IN, { ...record, ends, content }, MOST_OF_A_USER);
    await this.#hear(record);
    return token;
  }

  /**
   * Whose browser shows this.
   * @throws {ERR_RECORD_STORE} What the source throws that knows the user.
   */
  async find(token: string, signal: AbortSignal): Promise<SignIn | undefined> {
    if (!/^[A-Za-z0-9_-]{22}$/.test(token)) return undefined;
    const records = this.parts.records();
    const key = digestOf(token);
    const [signedIn, heardOf] = [await records.get(SIGNED_IN, key), await records.get(HEARD_OF, key)];
    if (signedIn === undefined || heardOf === undefined) return undefined;
    const { content, owner, made, ends } = signedIn;
    const { identity: first, userName, isRenewed } = isJsonObject(content) ? content : {};
    const identity = isRenewed === true ? await this.#logins.current(token, signedIn, signal) : first;
    const left = isKeptIdentity(identity)
      ? await whatIsLeft(identity, this.parts.accountStatus, signal)
      : undefined;
    if (left === undefined) {
      await this.end(token);
      if (isRenewed === true) await this.parts.revokeGot(owner, key);
      return undefined;
    }
    const { idleSeconds } = this.parts.limits;
    if (heardOf.ends - this.#now() < idleSeconds * (1 - NOTED)) await this.#hear({ key, owner, made });
    return {
      identity: { ...left, browser: { id: key, ends } },
      userName: typeof userName === "string" ? userName : undefined,
      ends,
      idleMinutes: Math.floor(idleSeconds / 60),
      formToken: formTokenOf(token),
    };
  }

  /** Signs the browser out. @throws {ERR_RECORD_STORE} */
  async end(token: string): Promise<void> {
    await this.#end(digestOf(token));
  }

  /** Ends what a provider has ended: browsers, and tokens that were got with them; how many browsers. @throws {ERR_RECORD_STORE} */
  async endLogins(via: string, ended: EndedLogins): Promise<number> {
    const browsers = await this.#logins.endedBy(via, ended);
    for (const { key, owner } of browsers) {
      await this.#end(key);
      await this.parts.revokeGot(owner, key);
    }
    return browsers.length;
  }

  async #end(key: string): Promise<void> {
    const records = this.parts.records();
    await records.remove(SIGNED_IN, key);
    await records.remove(HEARD_OF, key);
    await this.#logins.forget(key);
  }

  /** Signs out all browsers of a user. @param owner Name in canonical DN. @throws {ERR_RECORD_STORE} */
  async endAllOf(owner: string): Promise<void> {
    const records = this.parts.records();
    await records.removeOf(SIGNED_IN, owner);
    await records.removeOf(HEARD_OF, owner);
  }

  /** Apart from the other record: one that were written again here would bring back a browser that has just signed out. */
  async #hear(
    record: { readonly key: string; readonly owner: string; readonly made: number },
  ): Promise<void> {
    const ends = this.#now() + this.parts.limits.idleSeconds;
    await this.parts.records().put(HEARD_OF, { ...record, ends, content: {} }, MOST_OF_A_USER);
  }

  #now(): number {
    return Math.floor(this.parts.clock() / 1000);
  }
}

function digestOf(token: string): string {
  return hash("sha256", token, "base64url");
}

/** For forms: nothing needs to be kept of it, and it does not tell what it is made of. */
function formTokenOf(token: string): string {
  return createHmac("sha256", token).update("form").digest("base64url");
}

/** Where browsers have what they show. @param base Base of links for the caller. */
export function signInCookie(base: string): HostCookie {
  return new HostCookie("sign-in", base);
}
