import { type AuthorizedKey, hindrance } from "./authorized_keys.ts";
import type { RevokedKeys } from "./certificate/revoked_keys.ts";
import type { SshPublicKey } from "./public_key.ts";

/** Proof of a key's possession by a claimed user. */
export interface Proof {
  readonly user: string;
  readonly made?: number; // creation time in seconds since the epoch, if stated; never in the future
  fits(key: SshPublicKey): boolean;
  isMadeBy(key: SshPublicKey): Promise<boolean>;
  /** Does the work of a verification. */
  tryInVain(): Promise<unknown>;
  admit?(): string | undefined; // returns why a verified proof may not be used
}

/** Search for the key of a proof. */
export class KeyTrial {
  #worked = false;
  #reason = "no key of the user made the signature";

  constructor(
    readonly proof: Proof,
    readonly clientAddress: string,
    readonly now: number,
    readonly revoked: RevokedKeys | undefined,
  ) {}

  /** Reason of the failure, for the log. */
  get reason(): string {
    return this.#reason;
  }

  note(reason: string): void {
    this.#reason = reason;
  }

  /** Returns the first key that verifies the proof and meets its conditions. */
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

  /** Does the work of one verification if no key was tried. */
  async finish(): Promise<void> {
    if (!this.#worked) await this.proof.tryInVain();
  }
}
