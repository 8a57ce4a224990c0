import { createHmac } from "node:crypto";
import type { BanSubject } from "../ban.ts";

/**
 * Digests that stand for names and addresses of strangers in tables that instances share. They are made with a key that the
 * database does not have: people type passwords in the place of the name, and those could be guessed from plain digests.
 */
export class Digests {
  readonly #key: Uint8Array;

  /** @param secret Known to all instances alike. */
  constructor(secret: string) {
    this.#key = createHmac("sha256", secret).update("names of failed logins").digest();
  }

  readonly of = (text: string): string => createHmac("sha256", this.#key).update(text).digest("base64url");

  /** Returns a digest of each part, empty where there is none. */
  ofSubject({ user, address }: BanSubject): { user: string; address: string } {
    return {
      user: user === undefined ? "" : this.of(user),
      address: address === undefined ? "" : this.of(address),
    };
  }
}
