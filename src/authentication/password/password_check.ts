import { hash, timingSafeEqual } from "node:crypto";
import { type Stopwatch, stopwatch } from "../../model/clock.ts";
import { SingleFlight } from "../../model/single_flight.ts";
import type { SemaphoreWaiter } from "../../model/fair_semaphore.ts";
import {
  matchesMd5,
  matchesScrypt,
  type Md5Hash,
  sameCost,
  type ScryptCost,
  type ScryptHash,
  ScryptSemaphore,
  type StoredHash,
} from "./stored_hash.ts";
import type { PasswordEntry, PasswordTable } from "./password_table.ts";

/** Comparisons, injected so that tests can count them. */
export interface Matchers {
  readonly md5: (stored: Md5Hash, password: string) => boolean;
  readonly scrypt: (stored: ScryptHash, password: string) => Promise<boolean>;
}

/** Hash to compare at the same cost if a user has no MD5 hash. */
const MD5_DECOY: Md5Hash = {
  kind: "md5",
  salt: "decoydecoydecoy_",
  digest: crypto.getRandomValues(new Uint8Array(16)).toHex(),
};
const SCRYPT_DECOY = {
  salt: crypto.getRandomValues(new Uint8Array(16)),
  key: crypto.getRandomValues(new Uint8Array(32)),
};

/**
 * Checks passwords without revealing users by timing: each failure takes one MD5 comparison, and one scrypt
 * comparison per cost in the table, also for unknown users. {@link VerifiedPasswords} caches successes. Guesses without a
 * permit are not counted, so their answer must not depend on the password: unknown clients need a permit for a correct
 * password too, as do users known at an address after any other password from there.
 */
export class PasswordCheck {
  readonly #verified: VerifiedPasswords;
  readonly #matchers: Matchers;
  readonly #checks = new SingleFlight<boolean>();
  readonly #semaphore = new ScryptSemaphore();

  constructor({ elapsed = stopwatch, matchers }: { elapsed?: Stopwatch; matchers?: Matchers } = {}) {
    this.#verified = new VerifiedPasswords(elapsed);
    this.#matchers = matchers ?? { md5: matchesMd5, scrypt: matchesScrypt };
  }

  /** Returns the user's entry if the password is right. @throws {ERR_TOO_MUCH_WORK} 503 if too many wait. */
  async entryOf(
    { entries, costs }: PasswordTable,
    user: string,
    password: string,
    waiter: SemaphoreWaiter,
  ): Promise<PasswordEntry | undefined> {
    const entry = entries.get(user);
    const hash = entry?.hash;
    if (costs.length === 0) return this.#matchesMd5(hash, password) ? entry : undefined;

    const remembered = () => hash !== undefined && this.#verified.has(hash, password);
    if (waiter.known && remembered()) return entry;
    if (waiter.known && hash !== undefined) this.#verified.forget(hash);
    const work = async () => {
      if (remembered()) return true;
      if (!await this.#matchesOne(hash, costs, password)) return false;
      if (hash !== undefined) this.#verified.add(hash, password);
      return true;
    };
    // Concurrent identical checks share one, within a queue key so that nobody waits in another's queue.
    const digest = this.#verified.digest(password).toBase64();
    const question = JSON.stringify([waiter.queueKey, user, digest, hash]);
    const run = (signal: AbortSignal) => this.#semaphore.run(work, { ...waiter, signal });
    return await this.#checks.join(question, run, waiter.signal) ? entry : undefined;
  }

  #matchesMd5(hash: StoredHash | undefined, password: string): boolean {
    const own = hash?.kind === "md5" ? hash : undefined;
    return this.#matchers.md5(own ?? MD5_DECOY, password) && own !== undefined;
  }

  async #matchesOne(
    hash: StoredHash | undefined,
    costs: readonly ScryptCost[],
    password: string,
  ): Promise<boolean> {
    if (this.#matchesMd5(hash, password)) return true;
    const own = hash?.kind === "scrypt" ? hash : undefined;
    if (own !== undefined && await this.#matchers.scrypt(own, password)) return true;
    for (const cost of costs) {
      if (own !== undefined && sameCost(own.cost, cost)) continue;
      await this.#matchers.scrypt({ kind: "scrypt", cost, ...SCRYPT_DECOY }, password);
    }
    return false;
  }
}

const LIFETIME_MS = 5 * 60_000; // cache time after the slow check

/**
 * Recently verified passwords as digests with a random key. An entry belongs to its hash, so there is one per
 * line at most, and a reread file clears all. Only right passwords become faster.
 */
class VerifiedPasswords {
  readonly #key = crypto.getRandomValues(new Uint8Array(32)).toHex();
  readonly #digests = new WeakMap<StoredHash, { readonly digest: Uint8Array; readonly until: number }>();

  constructor(readonly elapsed: Stopwatch) {}

  has(stored: StoredHash, password: string): boolean {
    const verified = this.#digests.get(stored);
    if (verified === undefined || verified.until <= this.elapsed()) return false;
    return timingSafeEqual(this.digest(password), verified.digest);
  }

  /** Call only after the slow check, so that a cached entry never renews itself. */
  add(stored: StoredHash, password: string): void {
    this.#digests.set(stored, { digest: this.digest(password), until: this.elapsed() + LIFETIME_MS });
  }

  forget(stored: StoredHash): void {
    this.#digests.delete(stored);
  }

  /** Returns the digest, valid in this process only. */
  digest(password: string): Uint8Array {
    // The key has a fixed length and digests stay private, so HMAC adds nothing.
    return hash("sha256", this.#key + password, "buffer");
  }
}
