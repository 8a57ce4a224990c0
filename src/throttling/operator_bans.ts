import type { Stopwatch } from "../model/clock.ts";
import type { Ban, BanSubject } from "./ban.ts";
import { tooManyFailures } from "./too_many_failures.ts";

/** Who makes an attempt, as far as that is known. */
export interface Attempted {
  /** What counts as the user: name typed, account. */
  readonly users: readonly string[];
  /** The user's name in canonical DN. */
  readonly name?: string;
  readonly address: string;
}

/** Whether a ban concerns an attempt. */
export function concerns(ban: BanSubject, { users, name, address }: Attempted): boolean {
  const isUser = ban.user === undefined || users.includes(ban.user) ||
    (name !== undefined && ban.names?.includes(name) === true);
  return isUser && (ban.address === undefined || ban.address === address);
}

/** Something under way, which a ban of those who make it ends. */
interface Guest {
  readonly attempted: Attempted;
  readonly end: (reason: unknown) => void;
}

/** Bans imposed by hand. They hold also where automatic throttling is switched off. */
export class OperatorBans {
  readonly #elapsed: Stopwatch;
  #bans: readonly Ban[] = [];
  readonly #guests = new Set<Guest>();

  constructor(elapsed: Stopwatch) {
    this.#elapsed = elapsed;
  }

  /** @throws {ERR_TOO_MANY_FAILURES} If the user, the address, or this user at this address is banned. */
  admit(attempted: Attempted): void {
    if (this.#bans.length === 0) return;
    for (const ban of this.list()) {
      if (concerns(ban, attempted)) throw tooManyFailures(ban.until - this.#elapsed(), "operator");
    }
  }

  /**
   * Ends what has been admitted, and takes long, as soon as those are banned who make it.
   * @param end Told once, with what {@link admit} would throw by then.
   * @returns To be called when it is over.
   */
  watch(attempted: Attempted, end: (reason: unknown) => void): () => void {
    const guest: Guest = { attempted, end };
    this.#guests.add(guest);
    this.#endIfBanned(guest);
    return () => void this.#guests.delete(guest);
  }

  /** @param until Like all moments here as the clock counts that was given. @param pending See {@link Ban}. */
  add(subject: BanSubject, until: number, pending?: boolean): void {
    if (subject.user === undefined && subject.address === undefined) {
      throw new TypeError("expected a user, an address, or both to ban");
    }
    this.remove(({ user, address }) => user === subject.user && address === subject.address);
    this.#bans = [...this.#bans, { ...subject, reason: "operator", failures: 0, until, pending }];
    for (const guest of this.#guests) this.#endIfBanned(guest);
  }

  /** @returns How many. */
  remove(matches: (subject: BanSubject) => boolean): number {
    const before = this.list();
    this.#bans = before.filter((ban) => !matches(ban));
    return before.length - this.#bans.length;
  }

  /** Takes over bans that were imposed elsewhere. */
  adopt(bans: readonly Ban[]): void {
    for (const { user, address, names, until, pending } of bans) {
      this.add({ user, address, names }, until, pending);
    }
  }

  /** These hold from now on, and no others. */
  replace(bans: readonly Ban[]): void {
    this.#bans = [];
    this.adopt(bans);
  }

  #endIfBanned(guest: Guest): void {
    try {
      this.admit(guest.attempted);
    } catch (reason) {
      this.#guests.delete(guest);
      guest.end(reason);
    }
  }

  /** Those that still hold. */
  list(): readonly Ban[] {
    const now = this.#elapsed();
    if (this.#bans.some(({ until }) => until <= now)) {
      this.#bans = this.#bans.filter(({ until }) => until > now);
    }
    return this.#bans;
  }
}
