import type { Logger } from "../../logging/logger.ts";
import type { Sink } from "../../logging/sink.ts";
import { BoundedMap } from "../../model/bounded_map.ts";
import { type Clock, epochSeconds, type Stopwatch } from "../../model/clock.ts";
import { canonicalDn } from "../../model/distinguished_name.ts";
import { isAmong, type RevokedTokens } from "../../model/token_family.ts";
import { httpError, isHttpError } from "../../model/http_error.ts";
import type { RecordStore, StoredRecord } from "../../store/record_store.ts";
import { isJsonObject } from "../../model/json_object.ts";
import { CLOCK_TOLERANCE } from "../signed_token.ts";
import type { Issuer } from "./issuer.ts";
import {
  type PresentedToken,
  type RegisteredToken,
  tokenOf,
  tokenRecord,
  type TokenUse,
} from "./registered_token.ts";

/**
 * Record kinds: tokens and revoked tokens by id; users who revoked all, by name, or name and server (others may have
 * the name elsewhere), with the time in milliseconds as `made`; signing certificates by key fingerprint.
 */
const [TOKEN, REVOKED, ALL_REVOKED, ISSUER] = [
  "token",
  "revoked-token",
  "revoked-tokens",
  "token-issuer",
] as const;

/** Kinds needed during an outage of the store. */
export const KINDS_OF_REVOKED = [REVOKED, ALL_REVOKED] as const;

const MOST_TOKENS = 1000; // per user; those that expire first are dropped
const MOST_REVOKED = 1000; // per user; beyond it all tokens are revoked
const MOST_REVOKED_STORED = 10 * MOST_REVOKED; // with those that a revocation of all covers
const MOST_ISSUERS = 20; // per name
const POLL_MS = 100; // interval of checks for changes elsewhere, in milliseconds
const DAY_MS = 86_400_000;
const REMEMBERED = 20_000; // cached users with revoked tokens, and cached last uses

export interface TokenOwner {
  readonly dn: string;
  /** Servers on which the caller proved the name, which others may have elsewhere; absent: all. */
  readonly servers?: readonly string[];
}

type TokenOfUser = Omit<PresentedToken, "token"> & { readonly token?: Pick<RegisteredToken, "servers"> };

/** Token as its owner sees it. */
export interface ListedToken extends RegisteredToken {
  readonly id: string;
}

interface TokenRegistryParts {
  readonly records: RecordStore;
  readonly clock: Clock;
  readonly elapsed: Stopwatch;
  readonly log: Logger;
  readonly uses: Sink;
  readonly longest: number; // seconds from a token to the end of everything derived from it
  readonly recordsUses: boolean; // false in read-only processes
  readonly outage?: OutageRule; // rules for an outage of the shared store; absent for a local one
}

/** Validity of tokens while revocations are unknown. */
interface OutageRule {
  readonly staleMs: () => number; // milliseconds of the outage; 0 if none
  readonly graceMs: number; // period in which all tokens stay valid, by the last known revocations
  readonly shortMs: number; // afterwards only families shorter than this stay valid, in milliseconds
}

/**
 * Registry of issued and revoked tokens. Revocation is checked on each use, from memory until the store
 * changes. Unrevoked tokens are valid even if unlisted, such as those of other instances.
 */
export class TokenRegistry {
  readonly #revoked = new BoundedMap<string, RevokedTokens & { readonly version: number }>(REMEMBERED);
  readonly #used = new BoundedMap<string, number>(REMEMBERED); // recorded days of last use by token id
  #version: { readonly number: number; readonly until: number } | undefined;
  #storedIssuer: string | undefined;
  readonly #listed = new BoundedMap<string, true>(REMEMBERED); // digests of listed tokens

  constructor(readonly parts: TokenRegistryParts) {}

  /** Whether revocations were ever read; otherwise each token is refused with 503 while the store is unavailable. */
  get knowsRevoked(): boolean {
    return (this.parts.outage?.staleMs() ?? 0) < Infinity;
  }

  /** Registers a new token and its signing certificate. @throws {ERR_RECORD_STORE} */
  async register(
    presented: PresentedToken,
    madeFrom: string | undefined,
    signer?: { readonly issuer: Issuer; readonly pem: string },
  ): Promise<void> {
    try {
      if (signer !== undefined) await this.#storeIssuer(signer);
      await this.#put(presented, { ...presented.token, madeFrom });
    } catch (error) {
      // The token is valid even if unlisted; revoking all of the owner's tokens includes it.
      if (!this.#isStale || !this.knowsRevoked || !isHttpError(error, "ERR_RECORD_STORE")) throw error;
      this.parts.log.warn("token not listed, the database is away", { id: presented.family.id });
    }
  }

  /** Reports whether a token is listed; its signature may be from any key. */
  async isListed({ token: { digest }, family: { id } }: PresentedToken): Promise<boolean> {
    if (this.#listed.get(digest)) return true;
    const record = await this.#records.get(TOKEN, id);
    if (record === undefined || tokenOf(record)?.digest !== digest) return false;
    this.#listed.set(digest, true);
    return true;
  }

  /** Returns unverified signing certificates for a name, PEM with chain. @throws {ERR_RECORD_STORE} */
  async issuers(canonicalName: string): Promise<readonly string[]> {
    const records = await this.#records.list(ISSUER, canonicalName);
    return records.map((record) => memberOf(record, "pem")).filter((pem) => typeof pem === "string");
  }

  /** Reports whether a token or an ancestor is revoked. @throws {ERR_RECORD_STORE} Also if unknown. */
  async isRevoked({ dn, family, token }: TokenOfUser) {
    const version = this.#poll();
    const user = [dn, ...token?.servers ?? []].join("\n");
    const known = this.#revoked.get(user);
    const revoked = known?.version === version ? known : await this.#read(canonicalDn(dn), token?.servers);
    if (revoked !== known) this.#revoked.set(user, { version, ...revoked });
    if (isAmong(family, revoked)) return true;
    const { outage } = this.parts;
    const mayBe = outage !== undefined && outage.staleMs() > outage.graceMs &&
      family.expires * 1000 - family.since > outage.shortMs;
    if (mayBe) throw httpError("ERR_RECORD_STORE", "cannot tell whether the token was revoked");
    return false;
  }

  /** Records the first use of a day in the background; never fails. */
  recordUse(presented: PresentedToken, address: string): void {
    if (!this.parts.recordsUses || this.#isStale) return;
    const { id } = presented.family;
    const days = Math.floor(this.parts.clock() / DAY_MS);
    if (this.#used.get(id) === days) return;
    this.#used.set(id, days);
    const day = new Date(days * DAY_MS).toISOString().slice(0, 10);
    void this.parts.uses.attempt(() =>
      this.#writeUse(presented, { day, address }).catch((error) => {
        this.#used.delete(id);
        throw error;
      })
    );
  }

  /** Lists a user's valid tokens, oldest first. @throws {ERR_RECORD_STORE} */
  async list({ dn, servers }: TokenOwner): Promise<readonly ListedToken[]> {
    const owner = canonicalDn(dn);
    const revoked = await this.#read(owner);
    return (await this.#records.list(TOKEN, owner)).flatMap((record) => {
      const token = tokenOf(record);
      if (token === undefined || !overlap(servers, token.servers)) return [];
      const listed = { ...token, id: record.key };
      return isAmong({ ...listed, line: token.line.map((id) => ({ id, expires: 0 })) }, revoked)
        ? []
        : [listed];
    });
  }

  /** Revokes a token and its descendants; returns whether it existed. @throws {ERR_RECORD_STORE} */
  async revoke(user: TokenOwner, id: string): Promise<boolean> {
    const token = (await this.list(user)).find((listed) => listed.id === id);
    if (token === undefined) return false;
    await this.#revoke(canonicalDn(user.dn), id, token);
    return true;
  }

  /** Revokes tokens of a browser sign-in. @param owner Canonical DN. @throws {ERR_RECORD_STORE} */
  async revokeBrowserTokens(owner: string, browser: string): Promise<void> {
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
    const { before = -Infinity } = await this.#read(owner);
    // Copies in memory may still hold records that have expired, or were deleted by another instance.
    const counting = (await this.#records.list(REVOKED, owner))
      .filter((record) => record.ends > epochSeconds(this.parts.clock) && sinceOf(record) > before);
    if (counting.length >= MOST_REVOKED) return await this.#revokeSoFar(owner);
    const ends = Math.ceil(latest) + CLOCK_TOLERANCE + 1;
    const record = { key: id, owner, made: epochSeconds(this.parts.clock), ends, content: { root, since } };
    await this.#records.put(REVOKED, record, MOST_REVOKED_STORED);
    this.#version = undefined;
    await this.#records.remove(TOKEN, id);
  }

  /** Revokes all of a user's tokens; returns the number of listed ones. @throws {ERR_RECORD_STORE} */
  async revokeAll(user: TokenOwner): Promise<number> {
    const listed = await this.list(user);
    const owner = canonicalDn(user.dn);
    if (user.servers !== undefined) { for (const { id } of listed) await this.revoke(user, id); }
    const keys = user.servers?.map((server) => `${owner}\n${server}`) ?? [owner];
    for (const key of keys) await this.#revokeSoFar(key);
    return listed.length;
  }

  /** Stores the certificate to verify tokens after its replacement. */
  async #storeIssuer(
    { issuer: { canonicalName, fingerprint, validity }, pem }: {
      readonly issuer: Issuer;
      readonly pem: string;
    },
  ): Promise<void> {
    if (this.#storedIssuer === fingerprint) return;
    const ends = Math.floor(validity.to / 1000);
    const record = {
      key: fingerprint,
      owner: canonicalName,
      made: epochSeconds(this.parts.clock),
      ends,
      content: { pem },
    };
    await this.#records.put(ISSUER, record, MOST_ISSUERS);
    this.#storedIssuer = fingerprint;
  }

  get #isStale(): boolean {
    return (this.parts.outage?.staleMs() ?? 0) > 0;
  }

  get #records(): RecordStore {
    return this.parts.records;
  }

  #poll(): number {
    const now = this.parts.elapsed();
    if (this.#version === undefined || now >= this.#version.until) {
      this.#version = { number: this.#records.version(), until: now + POLL_MS };
    }
    return this.#version.number;
  }

  /** Revokes everything issued until now by the clocks of all instances. */
  async #revokeSoFar(owner: string): Promise<void> {
    const tokens = await this.#records.list(TOKEN, owner.split("\n", 1)[0] ?? owner);
    const made = [...tokens, ...await this.#records.list(REVOKED, owner)].map(sinceOf);
    const { before: earlier = 0 } = await this.#read(owner);
    const before = Math.ceil(Math.max(this.parts.clock(), earlier, ...made));
    const ends = epochSeconds(this.parts.clock) + this.parts.longest + CLOCK_TOLERANCE + 1;
    const latest = tokens.map((record) => tokenOf(record)?.latest ?? 0);
    await this.#records.raise(ALL_REVOKED, {
      key: owner,
      owner,
      made: before,
      ends: Math.max(ends, ...latest.map((end) => Math.ceil(end) + CLOCK_TOLERANCE + 1)),
      content: { before },
    });
    this.#version = undefined;
    // Tokens issued or revoked meanwhile, by the clock of any instance, keep their records.
    const covered = Math.floor(before / 1000);
    await this.#records.removeOf(TOKEN, owner, covered);
    await this.#records.removeOf(REVOKED, owner, covered - CLOCK_TOLERANCE);
  }

  /** @param servers Those of the token in question. */
  async #read(owner: string, servers: readonly string[] = []): Promise<RevokedTokens> {
    const keys = [owner, ...servers.map((server) => `${owner}\n${server}`)];
    const all = await Promise.all(keys.map((key) => this.#records.get(ALL_REVOKED, key)));
    const times = all.map((record) => memberOf(record, "before")).filter((at) => typeof at === "number");
    const records = await this.#records.list(REVOKED, owner);
    return {
      ids: new Set(records.map(({ key }) => key)),
      roots: new Set(records.map((record) => String(memberOf(record, "root")))),
      before: times.length === 0 ? undefined : Math.max(...times),
    };
  }

  async #writeUse(presented: PresentedToken, used: TokenUse): Promise<void> {
    const record = await this.#records.get(TOKEN, presented.family.id);
    const token = record && tokenOf(record) || presented.token; // keeps known facts
    if (token.used?.day === used.day) return;
    await this.#put(presented, { ...token, used });
    // It may have been revoked meanwhile: revoking records that first, then removes the token.
    this.#version = undefined;
    if (await this.isRevoked(presented)) await this.#records.remove(TOKEN, presented.family.id);
  }

  async #put({ dn, family: { id } }: PresentedToken, token: RegisteredToken): Promise<void> {
    await this.#records.put(TOKEN, tokenRecord(token, { id, owner: canonicalDn(dn) }), MOST_TOKENS);
  }
}

/** Reports whether two proofs of a name share a server, hence mean the same user. */
function overlap(one: readonly string[] | undefined, other: readonly string[] | undefined): boolean {
  return one === undefined || other === undefined || one.some((server) => other.includes(server));
}

function sinceOf(record: StoredRecord): number {
  const since = memberOf(record, "since");
  return typeof since === "number" ? since : 0;
}

function memberOf(record: StoredRecord | undefined, name: string): unknown {
  return isJsonObject(record?.content) ? record.content[name] : undefined;
}
