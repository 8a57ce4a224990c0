import type { Logger } from "../../logging/logger.ts";
import type { Stopwatch } from "../../model/clock.ts";
import { type AuthorizedKey, parseKeyLine } from "./authorized_keys.ts";
import { authorityInLine } from "./certificate/authorities_file.ts";
import { BoundedMap } from "../../model/bounded_map.ts";
import { SingleFlight } from "../../model/single_flight.ts";
import { FairSemaphore, type SemaphoreWaiter } from "../../model/fair_semaphore.ts";
import { unlessAborted } from "../../model/unless_aborted.ts";

/** Where keys come from: one logical server, whose daemon reads the users' own `authorized_keys`. */
export interface KeySource {
  /** Name of the logical server. */
  readonly server: string;
  /**
   * Lines of the user's key files; none if the user is unknown there.
   * @param signal Aborted when nobody waits any longer; the request to the daemon may still be brought to its end.
   * @throws {Error} If there is no answer.
   */
  keyLines(user: string, signal: AbortSignal): Promise<readonly string[]>;
}

/** How long answers count, in milliseconds. */
export interface KeyCacheTimes {
  /** Until a user's keys are asked for again. */
  readonly updateMs: number;
  /** Until a user who has keys on no server is asked for again; default 30 s, at most `updateMs`. */
  readonly negativeMs?: number;
  /** After a failed lookup, until the next; default 5 s. */
  readonly errorMs?: number;
  /** For one lookup, waiting for its turn included; default 10 s. */
  readonly deadlineMs?: number;
  /** How long to wait for a server where there is another answer already; default 500 ms. */
  readonly graceMs?: number;
  /** After which a look-up under way keeps no other waiting for its turn; default 1 s. */
  readonly turnMs?: number;
}

/** There is no answer, and no earlier one that still counts. */
export class KeysUnknown extends Error {
  override readonly name = "KeysUnknown";
}

interface Answer {
  readonly keys: readonly AuthorizedKey[];
  /** As the stopwatch counts. */
  readonly at: number;
}

/** Keys of a user that are looked at; whoever has more is better served by fewer. */
const MAX_KEYS = 100;

/** The keys that one server reports, kept for a while. */
export class ServerKeys {
  /** Users with keys; kept apart from those without, so that guessed names displace none of them. */
  readonly #known = new BoundedMap<string, Answer>(10_000);
  readonly #empty = new BoundedMap<string, Answer>(10_000);
  /** Moments until which a failed lookup is not repeated. */
  readonly #failed = new BoundedMap<string, number>(10_000);
  readonly #lookups = new SingleFlight<readonly AuthorizedKey[]>();
  /** Few at a time, since a daemon handles one request after the other and is there for transfers. */
  readonly #semaphore = new FairSemaphore({ atOnce: 2, waiting: 200, perKey: 8 });
  readonly #times: Required<KeyCacheTimes>;
  /** Users whose look-up has taken longer than others wait for it. */
  readonly #slow = new Set<string>();
  #reachable = true;

  constructor(
    readonly source: KeySource,
    times: KeyCacheTimes,
    readonly parts: { readonly elapsed: Stopwatch; readonly log: Logger; readonly closed: AbortSignal },
  ) {
    this.#times = {
      negativeMs: 30_000,
      errorMs: 5_000,
      deadlineMs: 10_000,
      graceMs: 500,
      turnMs: 1_000,
      ...times,
    };
  }

  /** Whether the user is known to have keys on this server. */
  hasKeys(user: string): boolean {
    return this.#known.get(user) !== undefined;
  }

  /**
   * A user's keys on this server, if they were asked for not long ago.
   * @param elsewhere Whether the user has keys on some server: that there are none here then counts as long as keys do, or
   * every user would be asked for every half minute wherever they are not.
   */
  fresh(user: string, elsewhere: boolean): readonly AuthorizedKey[] | undefined {
    const last = this.#known.get(user) ?? this.#empty.get(user);
    if (last === undefined) return undefined;
    const { updateMs, negativeMs } = this.#times;
    const limit = elsewhere ? updateMs : Math.min(negativeMs, updateMs);
    return this.parts.elapsed() - last.at < limit ? last.keys : undefined;
  }

  /**
   * Asks for a user's keys on this server. If that fails or takes long, the last answer counts for one interval more.
   * @param seeker Where the question waits for its turn.
   * @throws {KeysUnknown} Or the signal's reason.
   */
  async ask(user: string, seeker: SemaphoreWaiter): Promise<readonly AuthorizedKey[]> {
    const fallback = this.#fallback(user);
    if ((this.#failed.get(user) ?? -Infinity) > this.parts.elapsed()) return fallback ?? this.#unknown();
    // Each queue key by itself: nobody waits in another's.
    const answer = this.#lookups.join(
      JSON.stringify([seeker.queueKey, user]),
      (signal) => this.#lookUp(user, { ...seeker, signal }),
      seeker.signal,
    );
    if (fallback === undefined) return await answer;
    return await this.inGoodTime(answer.catch(() => fallback), user) ?? fallback;
  }

  /** What a promise gives, unless a look-up of the user takes longer than others wait for it. */
  async inGoodTime<T>(promise: Promise<T>, user: string): Promise<T | undefined> {
    const { promise: overdue, resolve } = Promise.withResolvers<undefined>();
    const timer = setTimeout(resolve, this.#slow.has(user) ? 0 : this.#times.graceMs);
    try {
      return await Promise.race([promise, overdue]);
    } finally {
      clearTimeout(timer);
    }
  }

  #fallback(user: string): readonly AuthorizedKey[] | undefined {
    const last = this.#known.get(user);
    return last !== undefined && this.parts.elapsed() - last.at < 2 * this.#times.updateMs
      ? last.keys
      : undefined;
  }

  /** @throws {KeysUnknown} Or the signal's reason, if nobody waits any more. */
  async #lookUp(user: string, seeker: SemaphoreWaiter): Promise<readonly AuthorizedKey[]> {
    const deadline = new AbortController();
    const timer = setTimeout(
      () => deadline.abort(new DOMException("no answer in time", "TimeoutError")),
      this.#times.deadlineMs,
    );
    const slow = setTimeout(() => this.#slow.add(user), this.#times.graceMs);
    const signal = AbortSignal.any([deadline.signal, this.parts.closed, seeker.signal]);
    let asked = false;
    try {
      const { answer } = await this.#semaphore.run(() => {
        asked = true;
        return this.#forOneTurn(unlessAborted(this.source.keyLines(user, signal), signal));
      }, { ...seeker, signal });
      const keys = this.#read(user, await answer);
      this.#remember(user, keys);
      return keys;
    } catch (cause) {
      seeker.signal.throwIfAborted();
      // Who had no turn knows nothing of the daemon, and must not keep others from asking it about this user.
      if (asked) this.#noteFailure(user, cause);
      return this.#unknown(cause);
    } finally {
      clearTimeout(timer);
      clearTimeout(slow);
      this.#slow.delete(user);
    }
  }

  /** Settles with the answer, or when it takes long: who has key files that nobody can read to their end crowds nobody out. */
  async #forOneTurn<T>(answer: Promise<T>): Promise<{ readonly answer: Promise<T> }> {
    const { promise: over, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, this.#times.turnMs);
    answer.then(() => resolve(), () => resolve());
    await over;
    clearTimeout(timer);
    return { answer };
  }

  #noteFailure(user: string, cause: unknown): void {
    this.#failed.set(user, this.parts.elapsed() + this.#times.errorMs);
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
