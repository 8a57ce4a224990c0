import type { KeyObject } from "node:crypto";
import { BoundedMap } from "../model/bounded_map.ts";
import { SingleFlight } from "../model/single_flight.ts";
import { isSignedBy } from "./jws_signature.ts";
import type { SignedToken } from "./signed_token.ts";

/** A signature is verified in less time than anybody gives up in. */
const NEVER = new AbortController().signal;

/**
 * Verifies signatures of tokens, each one once: clients show the same token for minutes. What is remembered is that a
 * signature is right under a key, not that the key is allowed or the token valid, so a change of keys takes effect at once
 * and nothing here ever becomes wrong. Failures are not remembered.
 */
export class TokenVerifier {
  readonly #right = new BoundedMap<string, true>(20_000);
  readonly #running = new SingleFlight<boolean>();

  /**
   * Whether a key made the token's signature. The caller must have bound the algorithm to the key.
   * @param fingerprint The same for the same key, different for every other.
   */
  async isSignedBy(token: SignedToken, key: KeyObject, fingerprint: string): Promise<boolean> {
    const id = `${token.digest} ${fingerprint}`;
    if (this.#right.get(id)) return true;
    const right = await this.#running.join(id, () => isSignedBy(token, key), NEVER);
    if (right) this.#right.set(id, true);
    return right;
  }
}
