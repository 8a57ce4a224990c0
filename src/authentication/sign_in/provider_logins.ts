import { Buffer } from "node:buffer";
import { createCipheriv, createDecipheriv, createHmac, hash, randomBytes } from "node:crypto";
import type { Logger } from "../../logging/logger.ts";
import { decodeBase64Url } from "../../model/base64.ts";
import { BoundedMap } from "../../model/bounded_map.ts";
import { type Clock, epochSeconds, realTime, type Schedule, unlessAborted } from "../../model/clock.ts";
import { sameName } from "../../model/distinguished_name.ts";
import type { Identity } from "../../model/identity.ts";
import { httpError } from "../../model/http_error.ts";
import { SingleFlight } from "../../model/single_flight.ts";
import type { RecordStore, StoredRecord } from "../../store/record_store.ts";
import type { EndedLogins, ProviderSession, Renewal } from "../authenticator.ts";
import { isJsonObject } from "../../model/json_object.ts";
import { isStoredIdentity, type StoredIdentity } from "./stored_identity.ts";

const RENEWED_S = 300; // seconds between checks with the provider while a browser is used
/** Seconds for which a login stays valid during an outage of the provider. */
export const UNREACHABLE_S = 900;
/** Seconds for which only one instance asks the provider about a browser; the lease ends even if it dies. */
export const LEASE_S = 60;
const POLL_MS = 100; // interval of polls for the answer that another instance is waiting for, in milliseconds

/** Record kinds: renewal data, the provider's name of a session for logout, and the last logout by name, in milliseconds. */
const [RENEWAL, AT_PROVIDER, LOGOUT] = ["sign-in-renewal", "sign-in-at-provider", "logout-at-provider"];
const LOGOUT_S = 600; // seconds for which a logout is kept, longer than a sign-in takes
/** Records per user, more than browsers: only the last activities show which browser is used least. */
export const MAX_LOGINS = 1000;
/** Records per provider's name, including browsers that signed out: their tokens may still be valid. */
const MOST_AT_PROVIDER = 1000;
const NEVER = new AbortController().signal;

interface StoredLogin {
  readonly made: number; // grows with each change; the store keeps the first of two changes to the same login
  readonly identity: StoredIdentity;
  readonly sealed: string; // refresh token, encrypted with the browser's secret; a different text for each lease
  readonly checked: number; // last check, in seconds since the epoch
  readonly askedUntil: number; // end of the lease to ask the provider, likewise; 0: none
}

export interface EndedBrowser {
  readonly key: string;
  readonly owner: string; // canonical DN
}

export interface ProviderLoginParts {
  readonly records: () => RecordStore;
  /** Latest end of anything derived from the login, in seconds since the epoch. */
  readonly derivedUntil: (identity: Identity) => number;
  /** Renews an identity at its provider; `rotated` stores a new refresh token at once. @throws {ServiceError} On an outage. */
  readonly renew: (
    identity: StoredIdentity,
    session: RenewableSession,
    rotated: (refreshToken: string) => Promise<void>,
  ) => Promise<Renewal>;
  readonly clock: Clock;
  readonly schedule?: Schedule; // replaces timers in tests
  readonly log: Logger;
}

export type RenewableSession = ProviderSession & { readonly refreshToken: string };

/**
 * Browser logins at providers, renewed every five minutes of use. Refresh tokens are encrypted with the
 * browser's secret, so the store alone reveals none.
 */
export class ProviderLogins {
  readonly #asking = new SingleFlight<StoredIdentity | undefined>();
  readonly #pendingWrites = new BoundedMap<string, StoredLogin>(10_000); // renewed logins that could not be stored

  /** @param refused Signs out a browser whose provider no longer confirms the login. */
  constructor(
    readonly parts: ProviderLoginParts,
    readonly refused: (browser: EndedBrowser) => Promise<void>,
  ) {}

  /**
   * Stores a login.
   * @param token The browser's secret.
   * @returns Browsers that exceed the limit: the provider could not end them later. @throws {ERR_RECORD_STORE}
   */
  async begin(
    token: string,
    identity: StoredIdentity,
    { record: { key, ends, ...record }, session }: {
      readonly record: Omit<StoredRecord, "content">;
      readonly session: ProviderSession;
    },
  ): Promise<readonly EndedBrowser[]> {
    const records = this.parts.records();
    const evicted: EndedBrowser[] = [];
    // Tokens issued at the end of the session, after a last renewal, outlast it.
    const latest = Math.ceil(this.parts.derivedUntil({ ...identity, proved: ends, authTime: ends }));
    for (const name of namesOf(session)) {
      const content = { key, owner: record.owner };
      const owner = nameOf(identity.via, name);
      const known = await records.list(AT_PROVIDER, owner);
      const surplus = known.slice(0, Math.max(0, known.length + 1 - MOST_AT_PROVIDER));
      for (const { key } of surplus) await records.remove(AT_PROVIDER, key);
      evicted.push(...browsersIn(surplus));
      const atProvider = { ...record, key: `${key} ${name.slice(0, 3)}`, owner, ends: latest, content };
      await records.put(AT_PROVIDER, atProvider, MOST_AT_PROVIDER);
    }
    const { refreshToken } = session;
    if (refreshToken !== undefined) {
      const content = {
        identity,
        sealed: sealed(token, { ...session, refreshToken }),
        checked: epochSeconds(this.parts.clock),
      };
      await records.put(RENEWAL, { ...record, key, ends, content }, MAX_LOGINS);
    }
    return evicted;
  }

  /**
   * Returns the identity, renewed after some minutes; `undefined` if the provider refused, or nothing usable is stored.
   * @throws {ERR_AUTHENTICATION_UNAVAILABLE | ERR_RECORD_STORE} If it was unreachable for too long.
   */
  async current(token: string, record: StoredRecord, signal: AbortSignal) {
    // Never cancelled: a refresh token may be single-use.
    const answer = this.#asking.join(record.key, () => this.#ask(token, record), NEVER);
    return await unlessAborted(answer, signal);
  }

  async forget(key: string): Promise<void> {
    await this.parts.records().remove(RENEWAL, key);
  }

  /**
   * Returns the browsers whose sessions ended. First it records the logout, for logins that are not stored yet.
   * @param via Authenticator. @throws {ERR_RECORD_STORE}
   */
  async endedBy(via: string, { sub, sid }: EndedLogins): Promise<readonly EndedBrowser[]> {
    const owner = nameOf(via, sid === undefined ? `sub ${sub}` : `sid ${sid}`);
    const [records, made] = [this.parts.records(), Math.ceil(this.parts.clock())];
    await records.raise(LOGOUT, {
      key: owner,
      owner,
      made,
      ends: epochSeconds(this.parts.clock) + LOGOUT_S,
      content: {},
    });
    return browsersIn(await records.list(AT_PROVIDER, owner));
  }

  /** Whether the provider has ended a stored login since it began, in milliseconds. @throws {ERR_RECORD_STORE} */
  async isEnded(via: string, session: ProviderSession, began: number): Promise<boolean> {
    const keys = namesOf(session).map((name) => nameOf(via, name));
    const logouts = await Promise.all(keys.map((key) => this.parts.records().get(LOGOUT, key)));
    return logouts.some((logout) => logout !== undefined && logout.made >= began);
  }

  async #ask(token: string, record: StoredRecord): Promise<StoredIdentity | undefined> {
    const { log, renew, derivedUntil, schedule = realTime } = this.parts;
    const [login, now] = [await this.#read(record.key), epochSeconds(this.parts.clock)];
    if (login === undefined || now - login.checked < RENEWED_S) return login?.identity;
    const session = unsealed(token, login.sealed);
    if (session === undefined) return undefined;
    const counts = (at: number) => at - login.checked < UNREACHABLE_S && derivedUntil(login.identity) > at;
    const lease = { sealed: sealed(token, session), askedUntil: now + LEASE_S };
    let latest = { ...login, made: login.made + 1, ...lease };
    if (login.askedUntil > now || !await this.#save(record, latest)) {
      if (counts(now)) return login.identity;
      await new Promise<void>((resolve) => schedule(POLL_MS, resolve));
      return await this.#ask(token, record);
    }
    const save = async (changes: Partial<StoredLogin>) => {
      latest = { ...latest, made: latest.made + 2, ...changes }; // a new token takes precedence over a later lease
      await this.#save(record, latest);
    };
    const rotated = (refreshToken: string) => save({ sealed: sealed(token, { ...session, refreshToken }) });
    let renewal: Renewal;
    try {
      renewal = await renew(login.identity, session, rotated);
    } catch (error) {
      log.warn("provider not asked about a browser that is signed in", { method: login.identity.via, error });
      if (counts(epochSeconds(this.parts.clock) + LEASE_S)) return login.identity; // asked again after the lease
      await save({ askedUntil: 0 });
      if (counts(epochSeconds(this.parts.clock))) return login.identity;
      throw httpError(
        "ERR_AUTHENTICATION_UNAVAILABLE",
        { seconds: 30, reason: "provider away for too long" },
        error,
      );
    }
    // After the lease, another instance may have asked with the same token, or have a newer one.
    const stored = await this.#read(record.key);
    if (stored !== undefined && stored.sealed !== latest.sealed) return await this.#ask(token, record);
    if (renewal.kind === "renewed" && sameName(renewal.identity.dn, login.identity.dn)) {
      const { identity } = renewal;
      const { authTime } = login.identity;
      const renewed = { ...identity, authTime: identity.authTime === "now" ? authTime : identity.authTime };
      await save({ identity: renewed, checked: epochSeconds(this.parts.clock), askedUntil: 0 });
      return renewed;
    }
    const reason = renewal.kind === "refused" ? renewal.reason : "it names another user";
    log.info("browser signed out: the provider no longer confirms the login", {
      method: login.identity.via,
      reason,
    });
    this.#pendingWrites.delete(record.key);
    await this.refused(record);
    return undefined;
  }

  /** Stores a change unless another came first; returns whether it took effect. If the store fails, this instance remembers it. */
  async #save(record: StoredRecord, login: StoredLogin): Promise<boolean> {
    const { made, ...content } = login;
    try {
      const stored = await this.parts.records().raise(RENEWAL, { ...record, made, content });
      this.#pendingWrites.delete(record.key);
      return isJsonObject(stored.content) && stored.content.sealed === content.sealed;
    } catch (error) {
      this.parts.log.warn("renewed login not stored", { method: content.identity.via, error });
      this.#pendingWrites.set(record.key, login);
      return true;
    }
  }

  async #read(key: string): Promise<StoredLogin | undefined> {
    const record = await this.parts.records().get(RENEWAL, key);
    const { identity, sealed, checked, askedUntil = 0 } = isJsonObject(record?.content) ? record.content : {};
    if (record === undefined || !isStoredIdentity(identity) || typeof sealed !== "string") return undefined;
    if (typeof checked !== "number" || typeof askedUntil !== "number") return undefined;
    const { made } = record;
    const pending = this.#pendingWrites.get(key);
    return pending !== undefined && pending.made > made
      ? pending
      : { made, identity, sealed, checked, askedUntil };
  }
}

function browsersIn(records: readonly StoredRecord[]): readonly EndedBrowser[] {
  return records.flatMap(({ content }) => {
    const { key, owner } = isJsonObject(content) ? content : {};
    return typeof key === "string" && typeof owner === "string" ? [{ key, owner }] : [];
  });
}

function namesOf({ sub, sid }: ProviderSession): readonly string[] {
  return [`sub ${sub}`, ...sid === undefined ? [] : [`sid ${sid}`]];
}

function nameOf(via: string, name: string): string {
  return hash("sha256", JSON.stringify([via, name]), "base64url");
}

function keyOf(token: string): Uint8Array {
  return createHmac("sha256", token).update("refresh token").digest();
}

function sealed(token: string, session: RenewableSession): string {
  const nonce = randomBytes(12);
  const cipher = createCipheriv("aes-256-gcm", keyOf(token), nonce);
  const text = Buffer.concat([cipher.update(JSON.stringify(session), "utf8"), cipher.final()]);
  return Buffer.concat([nonce, cipher.getAuthTag(), text]).toString("base64url");
}

/** Decrypts; `undefined` if not written by us. */
function unsealed(token: string, text: string): RenewableSession | undefined {
  const bytes = decodeBase64Url(text);
  if (bytes === undefined) return undefined;
  try {
    const decipher = createDecipheriv("aes-256-gcm", keyOf(token), bytes.subarray(0, 12));
    decipher.setAuthTag(bytes.subarray(12, 28));
    const session: unknown = JSON.parse(
      Buffer.concat([decipher.update(bytes.subarray(28)), decipher.final()]).toString("utf8"),
    );
    const { sub, sid, refreshToken } = isJsonObject(session) ? session : {};
    if (typeof sub !== "string" || typeof refreshToken !== "string") return undefined;
    return { sub, sid: typeof sid === "string" ? sid : undefined, refreshToken };
  } catch {
    return undefined;
  }
}
