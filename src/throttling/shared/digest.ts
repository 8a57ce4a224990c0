import { createHmac } from "node:crypto";
import type { BanSubject } from "../ban.ts";

/** Keyed digests of names and addresses, since people type passwords as names; the database lacks the key. */
export class Digests {
  readonly #key: Uint8Array;

  constructor(secret: string) {
    this.#key = createHmac("sha256", secret).update("names of failed logins").digest();
  }

  readonly of = (text: string): string => createHmac("sha256", this.#key).update(text).digest("base64url");

  ofSubject({ user, address }: BanSubject): { user: string; address: string } {
    return {
      user: user === undefined ? "" : this.of(user),
      address: address === undefined ? "" : this.of(address),
    };
  }
}
