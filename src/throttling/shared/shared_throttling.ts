import { onError } from "../../model/attempt.ts";
import type { Logger } from "../../logging/logger.ts";
import { type Schedule, type Stopwatch, within } from "../../model/clock.ts";
import { type Database, DatabaseFailure } from "../../store/database.ts";
import { Poller } from "../../store/poller.ts";
import type { Ban, BanSubject } from "../ban.ts";
import { KNOWN_MS, normalised, type ThrottlingMemory, type ThrottlingUpdate } from "../memory.ts";
import type { CountedFailure, Counting } from "../login_throttle.ts";
import { Digests } from "./digest.ts";
import { isSameBan, SharedBans } from "./shared_bans.ts";
import { type KnownLogin, SharedFailures } from "./shared_failures.ts";

const LOOK_MS = 1000; // interval of checks for changes without notification, in milliseconds
const BAN_MS = 5000; // longest wait of an operator for a locked database, in milliseconds
const REREAD_MS = 15_000; // interval of full reads, in milliseconds
const KNOWN_TURN_MS = 2000; // interval of publishing and reading known logins, in milliseconds
const PURGE_MS = 10 * 60_000; // interval of deleting expired rows, in milliseconds
const MOST_KNOWN = 10_000; // most known logins queued, or read at once
const AT_ONCE = 200; // logins per transaction

interface SharedThrottlingParts {
  readonly database: Database;
  readonly secret: string;
  readonly onUpdate: (update: ThrottlingUpdate) => void; // called for admin requests on other instances
  readonly log: Logger;
  readonly elapsed: Stopwatch;
  readonly schedule?: Schedule;
  /** For a single instance: whether an earlier core read the bans that the previous process left. */
  readonly singleInstance?: { readonly known: boolean };
}

/**
 * Bans, failures and known users shared through a database. Bans apply everywhere on notification. Failures are not
 * polled: an instance learns the total when a login fails there. During an outage each instance counts alone. A single
 * instance ends its bans by its own stopwatch, which no clock change affects. So each core reads the bans once, and the ends
 * that earlier cores know replace those that it read.
 */
export class SharedThrottling {
  readonly #bans: SharedBans;
  readonly #failures: SharedFailures;
  #memory: ThrottlingMemory | undefined;
  /** Processed requests to clear failures; absent before the first read. */
  #lifts: ReadonlySet<string> | undefined;
  #version: string | undefined; // absent before the first read
  #readAt = -Infinity;
  /** Logins to publish by pair, with the time of the parts' stopwatch. */
  readonly #passed = new Map<string, { readonly at: number; readonly clears: boolean }>();
  /** Version last read, and until when, by the database's clock. */
  #known: { readonly version: number; readonly until: number } | undefined;
  readonly #startedAt: number;
  #last: Promise<unknown> = Promise.resolve();
  readonly #pollers: readonly Poller[];

  constructor(readonly parts: SharedThrottlingParts) {
    const { database, elapsed, log, singleInstance, schedule } = parts;
    this.#startedAt = elapsed();
    const digests = new Digests(parts.secret);
    this.#bans = new SharedBans(database, digests);
    this.#failures = new SharedFailures(database, digests, schedule);
    const poller = (intervalMs: number, poll: () => Promise<void>, onChange?: Database["onChange"]) =>
      new Poller({ poll, intervalMs, failureMessage: "bans are not shared", log, schedule, onChange });
    this.#pollers = [
      poller(LOOK_MS, () => this.#look(), database.onChange),
      ...singleInstance === undefined ? [poller(KNOWN_TURN_MS, () => this.#shareKnown())] : [],
      poller(PURGE_MS, () => this.#bans.purge().then(() => this.#failures.purge(KNOWN_MS))),
    ];
  }

  async follow(memory: ThrottlingMemory): Promise<void> {
    this.#memory = memory;
    await Promise.all(this.#pollers.map((each) => each.start()));
  }

  count(failed: readonly CountedFailure[]): Counting | undefined {
    const { elapsed } = this.parts;
    const passed = failed.flatMap(({ counter: { key: pair } }) => {
      const login = this.#passed.get(pair);
      return login === undefined ? [] : [{ pair, login, ...login, agoMs: elapsed() - login.at }];
    });
    const counting = this.#failures.count(failed, passed);
    if (counting === undefined) return undefined;
    // Published now or later, not twice: a second time would clear this failure too.
    for (const { pair } of passed) this.#passed.delete(pair);
    void counting.totals.then((totals) => {
      if (totals.length === 0) passed.forEach(({ pair, login }) => this.#passed.set(pair, login));
    });
    return counting;
  }

  passed(pair: string, clears: boolean): void {
    if (this.#passed.size < MOST_KNOWN) this.#passed.set(pair, { at: this.parts.elapsed(), clears });
  }

  /** Bans here at once, then in the database, for other instances; false if that happens later (database down). */
  async ban(subject: BanSubject, until: number): Promise<boolean> {
    this.#memory?.ban(subject, until, "new");
    const stored = this.#inTurn(() => this.#exchange()).then(
      () => true,
      onError(DatabaseFailure, () => false),
    );
    return await within(stored, BAN_MS, this.parts.schedule) ?? false;
  }

  /** Lifts on all instances. @throws {DatabaseFailure} Nothing is changed then. */
  lift(subject: BanSubject): Promise<number> {
    const before = this.#memory?.operator.list() ?? [];
    return this.#inTurn(async () => {
      const { bans, counts } = await this.#bans.lift(normalised(subject));
      const memory = this.#memory;
      const later = memory === undefined
        ? []
        : pendingOf(memory).filter((ban) => !before.some((other) => isSameBan(ban, other)));
      const here = memory?.lift(subject) ?? 0;
      memory?.operator.adopt(later); // ordered after this
      await this.#read();
      return Math.max(here, bans + counts);
    });
  }

  close(): void {
    for (const each of this.#pollers) each.close();
  }

  async #look(): Promise<void> {
    const late = this.parts.elapsed() - this.#readAt >= REREAD_MS;
    const isDue = this.#isComplete
      ? this.#memory !== undefined && pendingOf(this.#memory).length > 0
      : late || this.#bans.version() !== this.#version;
    if (isDue) await this.#inTurn(() => this.#exchange());
  }

  /** Whether the bans were read and no other process changes them. */
  get #isComplete(): boolean {
    return this.parts.singleInstance !== undefined && this.#version !== undefined;
  }

  async #exchange(): Promise<void> {
    const memory = this.#memory;
    if (memory === undefined) return;
    const pending = pendingOf(memory);
    const now = memory.steady();
    if (pending.length > 0) {
      const tried = this.parts.singleInstance === undefined ? "tried" : "new"; // only this instance issues bans
      memory.operator.adopt(pending.map((ban) => ({ ...ban, pending: tried })));
      await this.#bans.add(pending.map((ban) => ({ ...ban, lastsMs: ban.until - now })));
    }
    await this.#read(pending);
  }

  /** @param published Bans that are now published. */
  async #read(published: readonly Ban[] = []): Promise<void> {
    const memory = this.#memory;
    if (memory === undefined) return;
    if (this.#isComplete) {
      const isPublished = (ban: Ban) => published.some((other) => isSameBan(ban, other));
      return memory.operator.replace(
        memory.operator.list().map((ban) => isPublished(ban) ? { ...ban, pending: undefined } : ban),
      );
    }
    const version = this.#bans.version();
    const { bans, lifts } = await this.#bans.read();
    this.#version = version;
    this.#readAt = this.parts.elapsed();
    const before = memory.operator.list();
    const now = memory.steady();
    const shared = bans.map(({ lastsMs, ...subject }): Ban => ({
      ...subject,
      reason: "operator",
      failures: 0,
      until: now + lastsMs,
    }));
    const pending = pendingOf(memory).filter((ban) => !published.some((other) => isSameBan(ban, other)));
    const allBans = [...shared, ...pending];
    // At its first read, an instance applies the requests since its start.
    const ownAgeMs = this.#readAt - this.#startedAt;
    const lifted = lifts.filter(({ id, ageMs }) =>
      this.#lifts === undefined ? ageMs < ownAgeMs : !this.#lifts.has(id)
    );
    this.#lifts = new Set(lifts.map(({ id }) => id));
    memory.operator.replace(allBans);
    for (const { subject } of lifted) memory.forget(subject);
    if (before.length + allBans.length + lifted.length === 0 || this.parts.singleInstance?.known) return;
    this.parts.onUpdate({ asOf: now, allBans, lifted: lifted.map(({ subject }) => subject) });
  }

  async #shareKnown(): Promise<void> {
    const { elapsed } = this.parts;
    const passed = [...this.#passed].slice(0, AT_ONCE);
    if (passed.length > 0) {
      await this.#failures.passed(
        passed.map(([pair, { at, clears }]) => ({ pair, clears, agoMs: elapsed() - at })),
      );
      for (const [pair, login] of passed) if (this.#passed.get(pair) === login) this.#passed.delete(pair);
    }
    const version = this.parts.database.version("known_login");
    if (version === this.#known?.version) return;
    const { logins, until } = await this.#failures.known(this.#known?.until, MOST_KNOWN);
    this.#recordLogins(logins);
    this.#known = { version, until };
  }

  /** Applies successful logins at other instances like local ones. */
  #recordLogins(logins: readonly KnownLogin[]): void {
    const memory = this.#memory;
    if (memory === undefined) return;
    const now = memory.steady();
    for (const { pair, clears, agoMs } of logins.toReversed()) {
      const isNew = memory.known.record(pair, now - agoMs);
      if (isNew && clears) memory.forgetPair(pair, now - agoMs);
    }
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#last.then(work);
    this.#last = done.catch(() => {});
    return done;
  }
}

function pendingOf(memory: ThrottlingMemory): readonly Ban[] {
  return memory.operator.list().filter(({ pending }) => pending !== undefined);
}
