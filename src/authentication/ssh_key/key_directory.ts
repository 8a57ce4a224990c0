import type { Logger } from "../../logging/logger.ts";
import { type Stopwatch, stopwatch, unlessAborted, within } from "../../model/clock.ts";
import { authorityInLine, type AuthorizedKey, parseKeyLine } from "./authorized_keys.ts";
import { BoundedMap } from "../../model/bounded_map.ts";
import { SingleFlight } from "../../model/single_flight.ts";
import { FairSemaphore, type SemaphoreWaiter } from "../../model/fair_semaphore.ts";

/** Logical server whose daemon reads users' `authorized_keys`. */
export interface KeySource {
  readonly server: string;
  /** Returns the lines of a user's key files; empty for unknown users. @throws If the daemon is silent. */
  keyLines(user: string, signal: AbortSignal): Promise<readonly string[]>;
}

/** Cache times in milliseconds. */
export interface KeyCacheTimes {
  readonly updateMs: number; // lifetime of a user's keys
  readonly deadlineMs?: number; // deadline of a lookup including its queue. Default: 10 s.
  readonly graceMs?: number; // wait for a server if another has responded. Default: 500 ms.
}

const NEGATIVE_MS = 30_000; // longest lifetime for users without keys on any server
const ERROR_MS = 5_000; // pause after a failure
const PERMIT_MS = 1_000; // time after which a running lookup blocks no others

/** Error without a current or earlier response. */
class KeysUnknown extends Error {}

interface Answer {
  readonly keys: readonly AuthorizedKey[];
  readonly at: number; // by the stopwatch
}

const MAX_KEYS = 100; // keys considered per user

class ServerKeys {
  /** Apart from users without keys, so that guessed names evict no real ones. */
  readonly #known = new BoundedMap<string, Answer>(10_000);
  readonly #empty = new BoundedMap<string, Answer>(10_000);
  readonly #failed = new BoundedMap<string, number>(10_000); // end of the pause after a failure
  readonly #lookups = new SingleFlight<readonly AuthorizedKey[]>();
  /** Few, since a daemon is single-threaded and exists for transfers. */
  readonly #semaphore = new FairSemaphore({ maxConcurrent: 2, waiting: 200, perKey: 8 });
  readonly #times: Required<KeyCacheTimes>;
  readonly #slow = new Set<string>(); // users with slow lookups
  #reachable = true;

  constructor(
    readonly source: KeySource,
    times: KeyCacheTimes,
    readonly parts: { readonly elapsed: Stopwatch; readonly log: Logger; readonly closed: AbortSignal },
  ) {
    this.#times = { deadlineMs: 10_000, graceMs: 500, ...times };
  }

  hasKeys(user: string): boolean {
    return this.#known.get(user) !== undefined;
  }

  /** Returns fresh keys. @param elsewhere Whether another server has keys: then absence is cached for as long. */
  fresh(user: string, elsewhere: boolean): readonly AuthorizedKey[] | undefined {
    const last = this.#known.get(user) ?? this.#empty.get(user);
    if (last === undefined) return undefined;
    const { updateMs } = this.#times;
    const limit = elsewhere ? updateMs : Math.min(NEGATIVE_MS, updateMs);
    return this.parts.elapsed() - last.at < limit ? last.keys : undefined;
  }

  /** Looks up a user's keys; on failure the last ones stay valid for one interval. @throws {KeysUnknown} */
  async ask(user: string, waiter: SemaphoreWaiter): Promise<readonly AuthorizedKey[]> {
    const fallback = this.#fallback(user);
    if ((this.#failed.get(user) ?? -Infinity) > this.parts.elapsed()) return fallback ?? this.#unknown();
    // Per queue key, so that nobody waits in another's queue.
    const answer = this.#lookups.join(
      JSON.stringify([waiter.queueKey, user]),
      (signal) => this.#lookUp(user, { ...waiter, signal }),
      waiter.signal,
    );
    if (fallback === undefined) return await answer;
    return await this.withinGrace(answer.catch(() => fallback), user) ?? fallback;
  }

  /** Waits for a promise unless the user's lookup is slow. */
  withinGrace<T>(promise: Promise<T>, user: string): Promise<T | undefined> {
    return within(promise, this.#slow.has(user) ? 0 : this.#times.graceMs);
  }

  #fallback(user: string): readonly AuthorizedKey[] | undefined {
    const last = this.#known.get(user);
    return last !== undefined && this.parts.elapsed() - last.at < 2 * this.#times.updateMs
      ? last.keys
      : undefined;
  }

  async #lookUp(user: string, waiter: SemaphoreWaiter): Promise<readonly AuthorizedKey[]> {
    using _slow = setTimeout(() => this.#slow.add(user), this.#times.graceMs);
    const late = AbortSignal.timeout(this.#times.deadlineMs);
    const signal = AbortSignal.any([late, this.parts.closed, waiter.signal]);
    let asked = false;
    try {
      const { answer } = await this.#semaphore.run(() => {
        asked = true;
        return this.#holdPermit(unlessAborted(this.source.keyLines(user, signal), signal));
      }, { ...waiter, signal });
      const keys = this.#read(user, await answer);
      this.#remember(user, keys);
      return keys;
    } catch (cause) {
      waiter.signal.throwIfAborted();
      // A lookup that got no permit proves nothing about the daemon.
      if (asked) this.#recordFailure(user, cause);
      return this.#unknown(cause);
    } finally {
      this.#slow.delete(user);
    }
  }

  /** Settles with the response, or when it is slow, so that unreadable key files block nobody. */
  async #holdPermit<T>(answer: Promise<T>): Promise<{ readonly answer: Promise<T> }> {
    await within(answer.catch(() => {}), PERMIT_MS);
    return { answer };
  }

  #recordFailure(user: string, cause: unknown): void {
    this.#failed.set(user, this.parts.elapsed() + ERROR_MS);
    if (this.#reachable && !this.parts.closed.aborted) {
      this.parts.log.warn("users' keys cannot be read", { server: this.source.server, error: cause });
    }
    this.#reachable = false;
  }

  #remember(user: string, keys: readonly AuthorizedKey[]): void {
    const [into, outOf] = keys.length > 0 ? [this.#known, this.#empty] : [this.#empty, this.#known];
    into.set(user, { keys, at: this.parts.elapsed() });
    outOf.delete(user);
    this.#failed.delete(user);
    if (!this.#reachable) {
      this.parts.log.info("users' keys can be read again", { server: this.source.server });
    }
    this.#reachable = true;
  }

  #read(user: string, lines: readonly string[]): readonly AuthorizedKey[] {
    const { server } = this.source;
    const keys: AuthorizedKey[] = [];
    for (const line of lines.slice(0, MAX_KEYS)) {
      const parsed = parseKeyLine(line);
      const issues = parsed.kind === "refused" ? authorityInLine(line) : undefined;
      if (parsed.kind === "key") keys.push(parsed.key);
      else if (issues !== undefined) keys.push({ publicKey: issues.publicKey, conditions: {}, issues });
      else if (parsed.kind === "refused") {
        this.parts.log.debug("key not used", { server, user, reason: parsed.reason });
      }
    }
    if (lines.length > MAX_KEYS) this.parts.log.info("too many keys", { server, user, read: MAX_KEYS });
    return keys;
  }

  #unknown(cause?: unknown): never {
    throw new KeysUnknown(`no keys from server ${this.source.server}`, { cause });
  }
}

type KeyTest = (keys: readonly AuthorizedKey[]) => Promise<boolean>;

/** Keys from daemons by server, since accounts of the same name differ between servers. */
export class KeyDirectory {
  readonly #servers: readonly ServerKeys[];
  readonly #names: readonly string[];
  readonly #closed = new AbortController();

  constructor(
    sources: readonly KeySource[],
    times: KeyCacheTimes,
    { elapsed = stopwatch, log }: { readonly elapsed?: Stopwatch; readonly log: Logger },
  ) {
    this.#names = sources.map(({ server }) => server);
    this.#servers = sources.map((source) =>
      new ServerKeys(source, times, { elapsed, log, closed: this.#closed.signal })
    );
  }

  /** Asks all servers, of which some may fail, and tests their keys. After a match it waits only briefly for the other daemons. */
  async confirm(user: string, test: KeyTest, waiter: SemaphoreWaiter) {
    const known = this.hasKeys(user);
    const fresh = this.#servers.map((server) => server.fresh(user, known));
    if (fresh.every((keys) => keys !== undefined)) {
      const passed = await Promise.all(fresh.map(test));
      return { confirmed: this.#names.filter((_, i) => passed[i]), failed: [] };
    }
    const asked = this.#servers.map((server, i) => fresh[i] ?? server.ask(user, waiter));
    return await this.#await(user, asked, test, waiter.signal);
  }

  hasKeys(user: string): boolean {
    return this.#servers.some((server) => server.hasKeys(user));
  }

  async #await(
    user: string,
    answers: readonly (readonly AuthorizedKey[] | Promise<readonly AuthorizedKey[]>)[],
    test: KeyTest,
    signal: AbortSignal,
  ) {
    const confirmed: string[] = [];
    const failed: string[] = [];
    const first = Promise.withResolvers<void>();
    const tested = this.#names.map(async (server, i) => {
      try {
        if (!await test(await answers[i] ?? [])) return;
        confirmed.push(server);
        first.resolve();
      } catch (error) {
        if (!(error instanceof KeysUnknown)) throw error;
        failed.push(server);
      }
    });
    const maxWait = first.promise.then(() =>
      Promise.all(tested.map((done, i) => this.#servers[i]?.withinGrace(done, user)))
    );
    await unlessAborted(Promise.race([Promise.all(tested), maxWait]), signal);
    // Copies, so that late responses change nothing.
    return { confirmed: [...confirmed], failed: [...failed] };
  }

  close(): void {
    this.#closed.abort();
  }
}
