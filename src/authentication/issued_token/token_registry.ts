import type { Logger } from "../../logging/logger.ts";
import { BoundedMap } from "../../model/bounded_map.ts";
import type { Clock, Stopwatch } from "../../model/clock.ts";
import { canonicalDn } from "../../model/distinguished_name.ts";
import { isAmong, type RevokedTokens } from "../../model/token_family.ts";
import { httpError, isHttpError } from "../../model/http_error.ts";
import type { KeptRecord, RecordStore } from "../../store/record_store.ts";
import { isJsonObject } from "../json_object.ts";
import { CLOCK_TOLERANCE } from "../signed_token.ts";
import type { Issuer } from "./issuer.ts";
import {
  type RegisteredToken,
  type ShownToken,
  tokenOf,
  tokenRecord,
  type TokenUse,
} from "./registered_token.ts";

/**
 * Kinds of records: tokens, by their ids; those taken back, by theirs; users who took all of theirs back, by their names, with
 * the bound in milliseconds as `made`; certificates that signed tokens, by the fingerprints of their keys.
 */
const [TOKEN, REVOKED, ALL_REVOKED, ISSUER] = [
  "token",
  "revoked-token",
  "revoked-tokens",
  "token-issuer",
] as const;

/** What must be known of while the store is away. */
export const KINDS_OF_REVOKED = [REVOKED, ALL_REVOKED] as const;

/** Most tokens of a user that are listed; those go that end first. */
const MOST_TOKENS = 1000;
/** Most ids of a user's that are kept as taken back; one more, and all tokens are. */
const MOST_REVOKED = 1000;
/** Most certificates of one name that are kept. */
const MOST_ISSUERS = 20;
/** How often the store is asked whether it has changed, in milliseconds; what is changed here counts at once. */
const LOOK_MS = 100;
const DAY_MS = 86_400_000;
/** Users whose revoked tokens are remembered, and tokens whose last use is. */
const REMEMBERED = 20_000;

/** Whose tokens are meant. */
export interface TokenOwner {
  /** Distinguished name. */
  readonly dn: string;
  /** Servers on which the caller has proved the name; on others somebody else may have it. Absent: on all. */
  readonly servers?: readonly string[];
}

/** A token as its owner sees it. */
export interface ListedToken extends RegisteredToken {
  readonly id: string;
}

/** What the book is kept with. */
interface TokenRegistryParts {
  readonly records: RecordStore;
  readonly clock: Clock;
  readonly elapsed: Stopwatch;
  readonly log: Logger;
  /** Longest time from the making of a token to the end of what is got with it, in seconds. */
  readonly longest: number;
  /** Whether uses are written down; not by whoever only looks on. */
  readonly keepsUses: boolean;
  /** What counts while the store that instances share is away; absent: it is this instance's own. */
  readonly outage?: OutageRule;
}

/** Which tokens count when nobody can tell whether they were taken back. */
interface OutageRule {
  /** Milliseconds since when that is so; 0 if it can be told. */
  readonly staleMs: () => number;
  /** So long all do, by what was known last. */
  readonly graceMs: number;
  /** Then only those do of which the first of their line was made so short a time before their end, in milliseconds. */
  readonly shortMs: number;
}

/**
 * Tokens of our own: which there are, and which were taken back. Whether one was is asked for each use, and read from the
 * store only when that has changed; a use is written down once a day. What was not taken back counts, whether it is in the
 * list or not, as do tokens of before and those of an instance with a store of its own.
 */
export class TokenRegistry {
  readonly #revoked = new BoundedMap<string, RevokedTokens & { readonly version: number }>(REMEMBERED);
  /** Days of the last use that was written down, by the ids of tokens. */
  readonly #used = new BoundedMap<string, number>(REMEMBERED);
  #version: { readonly number: number; readonly until: number } | undefined;
  /** Fingerprint of the key whose certificate was kept last. */
  #keptIssuer: string | undefined;
  /** Digests of tokens that were found in the list: what a text says never changes. */
  readonly #listed = new BoundedMap<string, true>(REMEMBERED);

  constructor(readonly parts: TokenRegistryParts) {}

  /** Enters a token that was made now, and the certificate that signed it. @throws {ERR_RECORD_STORE} */
  async enter(
    shown: ShownToken,
    madeFrom: string | undefined,
    signer?: { readonly issuer: Issuer; readonly pem: string },
  ): Promise<void> {
    try {
      if (signer !== undefined) await this.#keepIssuer(signer);
      await this.#put(shown, { ...shown.token, madeFrom });
    } catch (error) {
      // It counts all the same, and is taken back with all of its owner's.
      if (!this.#isStale || !isHttpError(error, "ERR_RECORD_STORE")) throw error;
      this.parts.log.warn("token not listed, the database is away", { id: shown.family.id });
    }
  }

  /** Whether a token is in the list: one of ours that may still be used, whatever key has signed it. */
  async isListed({ token: { digest }, family: { id } }: ShownToken): Promise<boolean> {
    if (this.#listed.get(digest)) return true;
    const record = await this.#records.get(TOKEN, id);
    if (record === undefined || tokenOf(record)?.digest !== digest) return false;
    this.#listed.set(digest, true);
    return true;
  }

  /** Certificates with which tokens were signed under a name, PEM, each followed by its chain; nothing of them is verified. @throws {ERR_RECORD_STORE} */
  async issuers(canonicalName: string): Promise<readonly string[]> {
    const records = await this.#records.list(ISSUER, canonicalName);
    return records.map((record) => memberOf(record, "pem")).filter((pem) => typeof pem === "string");
  }

  /** Whether a token was taken back, or one that it was got with. @throws {ERR_RECORD_STORE} Also if nobody can tell. */
  async isRevoked({ dn, family }: ShownToken): Promise<boolean> {
    const version = this.#look();
    const known = this.#revoked.get(dn);
    const revoked = known?.version === version ? known : await this.#readRevoked(canonicalDn(dn));
    if (revoked !== known) this.#revoked.set(dn, { version, ...revoked });
    if (isAmong(family, revoked)) return true;
    const { outage } = this.parts;
    const mayBe = outage !== undefined && outage.staleMs() > outage.graceMs &&
      family.expires * 1000 - family.since > outage.shortMs;
    if (mayBe) throw httpError("ERR_RECORD_STORE", "cannot tell whether the token was revoked");
    return false;
  }

  /** Writes down that a token is used, if it was not today. Nobody waits for that, and nothing fails by it. */
  noteUse(shown: ShownToken, address: string): void {
    if (!this.parts.keepsUses || this.#isStale) return;
    const { id } = shown.family;
    const days = Math.floor(this.parts.clock() / DAY_MS);
    if (this.#used.get(id) === days) return;
    this.#used.set(id, days);
    const day = new Date(days * DAY_MS).toISOString().slice(0, 10);
    this.#writeUse(shown, { day, address }).catch((error) => {
      this.#used.delete(id);
      this.parts.log.warn("use of a token not written down", { error });
    });
  }

  /** Tokens of a user that count, oldest first. @throws {ERR_RECORD_STORE} */
  async list({ dn, servers }: TokenOwner): Promise<readonly ListedToken[]> {
    const owner = canonicalDn(dn);
    const { ids, before = -Infinity } = await this.#readRevoked(owner);
    return (await this.#records.list(TOKEN, owner)).flatMap((record) => {
      const token = ids.has(record.key) ? undefined : tokenOf(record);
      return token !== undefined && token.since > before !== undefined && overlap(servers, token.servers)
        ? [{ ...token, id: record.key }]
        : [];
    });
  }

  /** Takes a user's token back, and what was got with it; whether it was there. @throws {ERR_RECORD_STORE} */
  async revoke(user: TokenOwner, id: string): Promise<boolean> {
    const token = (await this.list(user)).find((listed) => listed.id === id);
    if (token === undefined) return false;
    await this.#revoke(canonicalDn(user.dn), id, token);
    return true;
  }

  /** Revokes what a user got with a browser, and what was got with that. @param owner In canonical DN. @throws {ERR_RECORD_STORE} */
  async revokeGot(owner: string, browser: string): Promise<void> {
    const now = this.parts.clock();
    await this.#revoke(owner, browser, {
      root: browser,
      since: now,
      latest: now / 1000 + this.parts.longest,
    });
    for (const record of await this.#records.list(TOKEN, owner)) {
      if (tokenOf(record)?.root === browser) await this.#records.remove(TOKEN, record.key);
    }
  }

  async #revoke(
    owner: string,
    id: string,
    { root, since, latest }: Pick<RegisteredToken, "root" | "since" | "latest">,
  ): Promise<void> {
    if ((await this.#records.list(REVOKED, owner)).length >= MOST_REVOKED) {
      return await this.#revokeSoFar(owner);
    }
    const ends = Math.ceil(latest) + CLOCK_TOLERANCE + 1;
    const record = { key: id, owner, made: this.#now(), ends, content: { root, since } };
    await this.#records.put(REVOKED, record, MOST_REVOKED);
    this.#version = undefined;
    await this.#records.remove(TOKEN, id);
  }

  /**
   * Takes all tokens of a user back; those that are not listed as well, unless somebody else may have the name.
   * @returns How many were listed. @throws {ERR_RECORD_STORE}
   */
  async revokeAll(user: TokenOwner): Promise<number> {
    const listed = await this.list(user);
    if (user.servers === undefined) await this.#revokeSoFar(canonicalDn(user.dn));
    else for (const { id } of listed) await this.revoke(user, id);
    return listed.length;
  }

  /** So that tokens can be verified when another certificate is in its place. */
  async #keepIssuer(
    { issuer: { canonicalName, fingerprint, validity }, pem }: {
      readonly issuer: Issuer;
      readonly pem: string;
    },
  ): Promise<void> {
    if (this.#keptIssuer === fingerprint) return;
    const ends = Math.floor(validity.to / 1000);
    const record = { key: fingerprint, owner: canonicalName, made: this.#now(), ends, content: { pem } };
    await this.#records.put(ISSUER, record, MOST_ISSUERS);
    this.#keptIssuer = fingerprint;
  }

  get #isStale(): boolean {
    return (this.parts.outage?.staleMs() ?? 0) > 0;
  }

  get #records(): RecordStore {
    return this.parts.records;
  }

  /** The version of the store, of not long ago. */
  #look(): number {
    const now = this.parts.elapsed();
    if (this.#version === undefined || now >= this.#version.until) {
      this.#version = { number: this.#records.version(), until: now + LOOK_MS };
    }
    return this.#version.number;
  }

  /** In seconds. */
  #now(): number {
    return Math.floor(this.parts.clock() / 1000);
  }

  /** What was made until now, by this clock or that of another instance, counts no more. */
  async #revokeSoFar(owner: string): Promise<void> {
    const tokens = await this.#records.list(TOKEN, owner);
    const made = [...tokens, ...await this.#records.list(REVOKED, owner)].map(sinceOf);
    const { before: earlier = 0 } = await this.#readRevoked(owner);
    const before = Math.ceil(Math.max(this.parts.clock(), earlier, ...made));
    const ends = this.#now() + this.parts.longest + CLOCK_TOLERANCE + 1;
    const latest = tokens.map((record) => tokenOf(record)?.latest ?? 0);
    await this.#records.raise(ALL_REVOKED, {
      key: owner,
      owner,
      made: before,
      ends: Math.max(ends, ...latest.map((end) => Math.ceil(end) + CLOCK_TOLERANCE + 1)),
      content: { before },
    });
    this.#version = undefined;
    await this.#records.removeOf(TOKEN, owner);
    await this.#records.removeOf(REVOKED, owner);
  }

  async #readRevoked(owner: string): Promise<RevokedTokens> {
    const all = await this.#records.get(ALL_REVOKED, owner);
    const records = await this.#records.list(REVOKED, owner);
    const before = memberOf(all, "before");
    return {
      ids: new Set(records.map(({ key }) => key)),
      roots: new Set(records.map((record) => String(memberOf(record, "root")))),
      before: typeof before === "number" ? before : undefined,
    };
  }

  async #writeUse(shown: ShownToken, used: TokenUse): Promise<void> {
    const record = await this.#records.get(TOKEN, shown.family.id);
    const token = record && tokenOf(record) || shown.token; // what is known of it already stays
    if (token.used?.day === used.day) return;
    await this.#put(shown, { ...token, used });
    // It may have been revoked since it was looked at: what revokes it writes that down first, and removes it then.
    this.#version = undefined;
    if (await this.isRevoked(shown)) await this.#records.remove(TOKEN, shown.family.id);
  }

  async #put({ dn, family: { id } }: ShownToken, token: RegisteredToken): Promise<void> {
    await this.#records.put(TOKEN, tokenRecord(token, { id, owner: canonicalDn(dn) }), MOST_TOKENS);
  }
}

/** Whether two proofs of a name speak of a common server, so of the same user. */
function overlap(one: readonly string[] | undefined, other: readonly string[] | undefined): boolean {
  return one === undefined || other === undefined || one.some((server) => other.includes(server));
}

function sinceOf(record: KeptRecord): number {
  const since = memberOf(record, "since");
  return typeof since === "number" ? since : 0;
}

function memberOf(record: KeptRecord | undefined, name: string): unknown {
  return isJsonObject(record?.content) ? record.content[name] : undefined;
}
