import { type AuthorizedKey, hindrance } from "./authorized_keys.ts";
import type { RevokedKeys } from "./certificate/revoked_keys.ts";
import type { SshPublicKey } from "./public_key.ts";

/** Something that only the owner of a key can have made, and for which user. */
export interface Proof {
  readonly user: string;
  /** When it was made, in seconds since the epoch, as far as it says so; never later than now. */
  readonly made?: number;
  /** Whether a key is of a type that can have made it. */
  fits(key: SshPublicKey): boolean;
  isMadeBy(key: SshPublicKey): Promise<boolean>;
  /** Verifies it under a key that nobody has. */
  tryInVain(): Promise<unknown>;
  /** Whether it may be used, once it is verified; if not, why. */
  admit?(): string | undefined;
}

/** One attempt to find the key that made a proof. */
export class KeyTrial {
  #worked = false;
  #reason = "no key of the user made the signature";

  constructor(
    readonly proof: Proof,
    readonly clientAddress: string,
    readonly now: number,
    readonly revoked: RevokedKeys | undefined,
  ) {}

  /** Why no key was found, for the log. */
  get reason(): string {
    return this.#reason;
  }

  /** Notes why no key may be found, for the log. */
  note(reason: string): void {
    this.#reason = reason;
  }

  /** The first key that made the proof and whose conditions are met. */
  async find<K extends AuthorizedKey>(keys: readonly K[]): Promise<K | undefined> {
    for (const key of keys) {
      if (key.issues !== undefined || !this.proof.fits(key.publicKey)) continue;
      this.#worked = true;
      if (!await this.proof.isMadeBy(key.publicKey)) continue;
      const reason = this.revoked?.revokesKey(key.publicKey) ? "the key was revoked" : hindrance(key, this);
      if (reason === undefined) return key;
      this.#reason = reason;
    }
    return undefined;
  }

  /** Does the work that a wrong key would have cost, if there was no key to try. */
  async finish(): Promise<void> {
    if (!this.#worked) await this.proof.tryInVain();
  }
}
