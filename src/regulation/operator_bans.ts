import type { Clock } from "../model/clock.ts";
import type { Ban, BanSubject } from "./ban.ts";
import { TooManyFailures } from "./too_many_failures.ts";

/** Bans imposed by hand. They hold also where automatic regulation is switched off. */
export class OperatorBans {
  readonly #now: Clock;
  #bans: readonly Ban[] = [];

  constructor(now: Clock) {
    this.#now = now;
  }

  /** @throws {TooManyFailures} If the user, the address, or this user at this address is banned. */
  admit(attempt: BanSubject): void {
    if (this.#bans.length === 0) return;
    for (const { user, address, until } of this.list()) {
      const concerned = (user === undefined || user === attempt.user) &&
        (address === undefined || address === attempt.address);
      if (concerned) throw new TooManyFailures(until - this.#now(), "operator");
    }
  }

  add(subject: BanSubject, until: number): void {
    if (subject.user === undefined && subject.address === undefined) {
      throw new TypeError("Expected a user, an address, or both to ban");
    }
    this.remove(({ user, address }) => user === subject.user && address === subject.address);
    this.#bans = [...this.#bans, { ...subject, reason: "operator", failures: 0, until }];
  }

  /** @returns How many. */
  remove(matches: (subject: BanSubject) => boolean): number {
    const before = this.list();
    this.#bans = before.filter((ban) => !matches(ban));
    return before.length - this.#bans.length;
  }

  /** Takes over bans that were imposed elsewhere. */
  adopt(bans: readonly Ban[]): void {
    for (const { user, address, until } of bans) this.add({ user, address }, until);
  }

  /** Those that still hold. */
  list(): readonly Ban[] {
    const now = this.#now();
    if (this.#bans.some(({ until }) => until <= now)) {
      this.#bans = this.#bans.filter(({ until }) => until > now);
    }
    return this.#bans;
  }
}
