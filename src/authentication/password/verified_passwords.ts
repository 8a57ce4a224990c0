import { hash, timingSafeEqual } from "node:crypto";
import type { Stopwatch } from "../../model/clock.ts";
import type { ScryptHash } from "./scrypt_hash.ts";

/** Milliseconds for which a password is remembered after the work was done. */
const LIFETIME_MS = 5 * 60_000;

/**
 * Passwords that passed the slow check a short while ago, as keyed digests: SHA-256 over a random key that exists in
 * this process alone, and the password. A digest hangs on the very hash that was checked, so there is one at most for
 * each line of the file, and all go with the table when the file is read again. Right passwords pass more quickly by
 * this; wrong ones do not.
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

  /** Call it after the slow check alone, so that being remembered never prolongs itself. */
  add(stored: ScryptHash, password: string): void {
    this.#digests.set(stored, { digest: this.digest(password), until: this.#elapsed() + LIFETIME_MS });
  }

  /** What a password is known by, here and in no other process. */
  digest(password: string): Uint8Array {
    // The key has one length, so no two passwords make the same text; nobody outside sees a digest, so HMAC adds nothing.
    return hash("sha256", this.#key + password, "buffer");
  }
}
