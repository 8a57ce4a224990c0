import { randomBytes, randomInt } from "node:crypto";
import { BoundedMap } from "../../model/bounded_map.ts";
import { type Clock, epochSeconds } from "../../model/clock.ts";
import { canonicalDn } from "../../model/distinguished_name.ts";
import type { Identity } from "../../model/identity.ts";
import { httpError } from "../../model/http_error.ts";
import { ReplayCache } from "../../model/replay_cache.ts";
import type { RecordStore } from "../../store/record_store.ts";
import { isJsonObject } from "../../model/json_object.ts";
import { digestOf } from "./sign_ins.ts";
import { isStoredIdentity } from "./stored_identity.ts";

/** Lifetime of the codes and interval of polls, in seconds (RFC 8628, 3.2). */
export const CODE_SECONDS = 600;
export const POLL_SECONDS = 5;

/** Letters without vowels and look-alikes: 20 to the power of 8 user codes (RFC 8628, 6.1). */
const LETTERS = "BCDFGHJKLMNPQRSTVWXZ";
const HALF = 4; // letters before and after the hyphen

/** Record kinds: requests by device code, device codes by user code, decisions by device code. */
const [REQUEST, USER_CODE, DECISION] = ["device-login", "device-user-code", "device-decision"];
/** Requests of an address group, and in all, in ten minutes: one guess in 13 million is a valid user code. */
const REQUESTS = { all: 2000, perOwner: 20 };
const MOST_STORED = 2 * REQUESTS.perOwner; // per address group: open ones of all instances, and some that have ended
const GUESSES = { all: 50_000, perOwner: 20 }; // user codes that a user can enter in ten minutes
const MOST_DECISIONS = 20; // per user
const REMEMBERED = 5000; // polled codes
const TOLERANCE_MS = 1000; // by which a poll may come early

/** Request of a program, which its user has to approve. */
interface DeviceRequest {
  readonly client: string; // `client_id` from the program: unverified
  readonly address: string; // of the program
  readonly query: string; // token request in the form of a query
}

interface Approval {
  readonly identity: Identity;
  readonly role: string;
}

/** Result of a poll (RFC 8628, 3.5). */
type Polled =
  | { readonly kind: "pending" | "slow" | "denied" | "expired" | "unknown" }
  | ({ readonly kind: "approved"; readonly at: number; readonly query: string } & Approval);

/** Open request, as its user sees it. */
export interface OpenRequest extends DeviceRequest {
  readonly made: number; // seconds since the epoch
}

/**
 * Logins of programs without browser (RFC 8628). The store has digests of both codes. The first decision removes the user
 * code and the first poll after it the device code, so that each is valid once, at all instances together.
 */
export class DeviceLogins {
  readonly #requests: ReplayCache;
  readonly #guesses: ReplayCache;
  readonly #polled = new BoundedMap<string, number>(REMEMBERED); // last poll that was not too early, in milliseconds

  constructor(readonly parts: { readonly records: () => RecordStore; readonly clock: Clock }) {
    this.#requests = new ReplayCache(REQUESTS, parts.clock);
    this.#guesses = new ReplayCache(GUESSES, parts.clock);
  }

  /** Stores a request and returns its codes. @param group Address group. @throws {ERR_TOO_MANY_CODES | ERR_RECORD_STORE} */
  async begin(request: DeviceRequest, group: string): Promise<{ device: string; user: string }> {
    take(this.#requests, group);
    const records = this.parts.records();
    const [device, user] = [randomBytes(32).toString("base64url"), newUserCode()];
    const [key, userKey] = [digestOf(device), digestOf(user)];
    const made = epochSeconds(this.parts.clock);
    if (await records.get(USER_CODE, userKey) !== undefined) throw httpError("ERR_TOO_MANY_CODES");
    const recent = (await records.list(REQUEST, group)).filter((other) => other.made > made - CODE_SECONDS);
    if (recent.length >= REQUESTS.perOwner) throw httpError("ERR_TOO_MANY_CODES");
    const expires = made + CODE_SECONDS;
    const common = { owner: group, made };
    const content = { ...request, expires };
    // Stored longer than it is valid, so that the program learns the reason.
    await records.put(REQUEST, { ...common, key, ends: expires + CODE_SECONDS, content }, MOST_STORED);
    await records.put(USER_CODE, { ...common, key: userKey, ends: expires, content: { key } }, MOST_STORED);
    return { device, user };
  }

  /** Returns the open request of a user code as typed. @throws {ERR_TOO_MANY_CODES | ERR_RECORD_STORE} */
  async find(typed: string, by: Identity): Promise<OpenRequest | undefined> {
    take(this.#guesses, canonicalDn(by.dn));
    const open = await this.#open(typed);
    return open && await this.#read(open.key);
  }

  /** Approves or denies a request; `false` if it is no longer open. @throws {ERR_RECORD_STORE} */
  async decide(typed: string, { identity, role }: Approval, isApproved: boolean): Promise<boolean> {
    const records = this.parts.records();
    const open = await this.#open(typed);
    if (open === undefined || !await records.remove(USER_CODE, open.userKey)) return false;
    const { key } = open;
    const at = this.parts.clock();
    const { browser, ...stored } = identity;
    const content = isApproved ? { identity: stored, browser, role, at } : {};
    const made = Math.floor(at / 1000);
    const record = { key, owner: canonicalDn(identity.dn), made, ends: made + CODE_SECONDS, content };
    await records.put(DECISION, record, MOST_DECISIONS);
    return true;
  }

  /** Returns the state of a request; an approval only once. @throws {ERR_RECORD_STORE} */
  async poll(device: string, client: string | undefined): Promise<Polled> {
    const key = digestOf(device);
    const last = this.#polled.get(key);
    const at = this.parts.clock();
    if (last !== undefined && at - last < POLL_SECONDS * 1000 - TOLERANCE_MS) return { kind: "slow" };
    const records = this.parts.records();
    const request = await this.#read(key);
    if (request === undefined || (client !== undefined && client !== request.client)) {
      return { kind: "unknown" };
    }
    const decision = await records.get(DECISION, key);
    if (decision === undefined) {
      this.#polled.set(key, at);
      return { kind: request.made + CODE_SECONDS <= epochSeconds(this.parts.clock) ? "expired" : "pending" };
    }
    this.#polled.delete(key);
    const isFirst = await records.remove(REQUEST, key);
    await records.remove(DECISION, key);
    if (!isFirst) return { kind: "unknown" };
    const approval = approvalIn(decision.content);
    return approval === undefined
      ? { kind: "denied" }
      : { kind: "approved", query: request.query, ...approval };
  }

  /** Returns the keys of the request with a user code. */
  async #open(typed: string): Promise<{ readonly key: string; readonly userKey: string } | undefined> {
    const userKey = digestOf(userCodeIn(typed));
    const content = (await this.parts.records().get(USER_CODE, userKey))?.content;
    const key = isJsonObject(content) ? content.key : undefined;
    return typeof key === "string" ? { key, userKey } : undefined;
  }

  async #read(key: string): Promise<OpenRequest | undefined> {
    const record = await this.parts.records().get(REQUEST, key);
    const { client, address, query } = isJsonObject(record?.content) ? record.content : {};
    return record !== undefined && typeof client === "string" && typeof address === "string" &&
        typeof query === "string"
      ? { client, address, query, made: record.made }
      : undefined;
  }
}

/** Counts an event for ten minutes. @throws {ERR_TOO_MANY_CODES} */
function take(quota: ReplayCache, owner: string): void {
  const endsAt = quota.clock() + CODE_SECONDS * 1000;
  if (!quota.note({ owner, key: crypto.randomUUID(), endsAt })) throw httpError("ERR_TOO_MANY_CODES");
}

function newUserCode(): string {
  return userCodeIn(Array.from({ length: 2 * HALF }, () => LETTERS[randomInt(LETTERS.length)]).join(""));
}

/** Returns the canonical form of a user code typed in any case, with or without hyphen and spaces. */
function userCodeIn(typed: string): string {
  const letters = typed.toUpperCase().replace(/[ -]/g, "");
  return `${letters.slice(0, HALF)}-${letters.slice(HALF)}`;
}

function approvalIn(content: unknown): (Approval & { readonly at: number }) | undefined {
  const { identity, browser, role, at } = isJsonObject(content) ? content : {};
  const { id, ends } = isJsonObject(browser) ? browser : {};
  if (!isStoredIdentity(identity) || typeof role !== "string" || typeof at !== "number") return undefined;
  if (typeof id !== "string" || typeof ends !== "number") return undefined;
  return { identity: { ...identity, browser: { id, ends } }, role, at };
}
