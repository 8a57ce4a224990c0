import type { KeyObject } from "node:crypto";
import { BoundedMap } from "../model/bounded_map.ts";
import { SingleFlight } from "../model/single_flight.ts";
import { isSignedBy } from "./jws_signature.ts";
import type { SignedToken } from "./signed_token.ts";

const NEVER = new AbortController().signal; // verifying is too quick to cancel

/** Caches valid signatures by key, not failures; whether key and token are acceptable is checked elsewhere. */
export class TokenVerifier {
  readonly #right = new BoundedMap<string, true>(20_000);
  readonly #running = new SingleFlight<boolean>();

  /** Verifies a signature; the caller has bound the algorithm to the key. @param fingerprint Unique to the key. */
  async isSignedBy(token: SignedToken, key: KeyObject, fingerprint: string): Promise<boolean> {
    const id = `${token.digest} ${fingerprint}`;
    if (this.#right.get(id)) return true;
    const right = await this.#running.join(id, () => isSignedBy(token, key), NEVER);
    if (right) this.#right.set(id, true);
    return right;
  }
}
