import type { Stopwatch } from "../model/clock.ts";
import type { Ban, BanSubject } from "./ban.ts";
import { type HttpError, httpError } from "../model/http_error.ts";

/** Known facts about the maker of an attempt. */
export interface AttemptSubject {
  readonly users: readonly string[]; // typed name and accounts, as user keys
  readonly names?: readonly string[]; // canonical DNs
  readonly address: string;
}

/** Reports whether a ban applies to an attempt. */
export function applies(ban: BanSubject, { users, names = [], address }: AttemptSubject): boolean {
  const isUser = ban.user === undefined || users.includes(ban.user) ||
    ban.names?.some((name) => names.includes(name)) === true;
  return isUser && (ban.address === undefined || ban.address === address);
}

interface BanWatcher {
  readonly subject: AttemptSubject;
  readonly end: (reason: unknown) => void;
}

/** Operator bans, also in force when automatic throttling is off. */
export class OperatorBans {
  #bans: readonly Ban[] = [];
  readonly #watchers = new Set<BanWatcher>();

  constructor(readonly elapsed: Stopwatch) {}

  /** @throws {ERR_TOO_MANY_FAILURES} If user, address or user at the address is banned. */
  admit(subject: AttemptSubject): void {
    for (const ban of this.list()) {
      if (applies(ban, subject)) throw tooManyFailures(ban.until - this.elapsed(), "operator");
    }
  }

  /** Calls `end` once, with the error of {@link admit}, when the user is banned. Returns a function to stop. */
  watch(subject: AttemptSubject, end: (reason: unknown) => void): () => void {
    const watcher: BanWatcher = { subject, end };
    this.#watchers.add(watcher);
    this.#endIfBanned(watcher);
    return () => void this.#watchers.delete(watcher);
  }

  /** @param until By the injected clock. @param pending See {@link Ban}. */
  add(subject: BanSubject, until: number, pending?: Ban["pending"]): void {
    if (subject.user === undefined && subject.address === undefined) {
      throw new TypeError("expected a user, an address, or both to ban");
    }
    this.remove(({ user, address }) => user === subject.user && address === subject.address);
    this.#bans = [...this.#bans, { ...subject, reason: "operator", failures: 0, until, pending }];
    for (const watcher of this.#watchers) this.#endIfBanned(watcher);
  }

  remove(matches: (subject: BanSubject) => boolean): number {
    const before = this.list();
    this.#bans = before.filter((ban) => !matches(ban));
    return before.length - this.#bans.length;
  }

  adopt(bans: readonly Ban[]): void {
    for (const { user, address, names, until, pending } of bans) {
      this.add({ user, address, names }, until, pending);
    }
  }

  replace(bans: readonly Ban[]): void {
    this.#bans = [];
    this.adopt(bans);
  }

  #endIfBanned(watcher: BanWatcher): void {
    try {
      this.admit(watcher.subject);
    } catch (reason) {
      this.#watchers.delete(watcher);
      watcher.end(reason);
    }
  }

  list(): readonly Ban[] {
    if (this.#bans.length === 0) return this.#bans;
    const now = this.elapsed();
    if (this.#bans.some(({ until }) => until <= now)) {
      this.#bans = this.#bans.filter(({ until }) => until > now);
    }
    return this.#bans;
  }
}

/** Returns the 429 error with the wait. @param scope Subject for the log. */
export function tooManyFailures(waitMs: number, scope: string): HttpError {
  const seconds = Math.max(1, Math.ceil(waitMs / 1000));
  return httpError("ERR_TOO_MANY_FAILURES", {
    seconds,
    reason: `Too many failed attempts (${scope}), ${waitMs} ms to wait`,
  });
}
