import { hash, timingSafeEqual } from "node:crypto";
import type { Stopwatch } from "../../model/clock.ts";
import type { ScryptHash } from "./scrypt_hash.ts";

const LIFETIME_MS = 5 * 60_000; // cache time after the slow check

/**
 * Recently verified passwords as digests with a random key. An entry belongs to its hash, so there is one per
 * line at most, and a reread file clears all. Only right passwords become faster.
 */
export class VerifiedPasswords {
  readonly #elapsed: Stopwatch;
  readonly #key = crypto.getRandomValues(new Uint8Array(32)).toHex();
  readonly #digests = new WeakMap<ScryptHash, { readonly digest: Uint8Array; readonly until: number }>();

  constructor(elapsed: Stopwatch) {
    this.#elapsed = elapsed;
  }

  has(stored: ScryptHash, password: string): boolean {
    const verified = this.#digests.get(stored);
    if (verified === undefined) return false;
    if (verified.until <= this.#elapsed()) {
      this.#digests.delete(stored);
      return false;
    }
    return timingSafeEqual(this.digest(password), verified.digest);
  }

  /** Call only after the slow check, so that a cached entry never renews itself. */
  add(stored: ScryptHash, password: string): void {
    this.#digests.set(stored, { digest: this.digest(password), until: this.#elapsed() + LIFETIME_MS });
  }

  /** Returns the digest, valid in this process only. */
  digest(password: string): Uint8Array {
    // The key has a fixed length and digests stay private, so HMAC adds nothing.
    return hash("sha256", this.#key + password, "buffer");
  }
}
