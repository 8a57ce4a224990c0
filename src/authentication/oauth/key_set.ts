import { KeyObject } from "node:crypto";
import { createLocalJWKSet, errors, type LocalJWKSet } from "jose";
import type { Logger } from "../../logging/logger.ts";
import { type Stopwatch, stopwatch } from "../../model/clock.ts";
import { realTime, type Schedule } from "../../model/schedule.ts";
import { SingleFlight } from "../../model/single_flight.ts";
import { unlessAborted } from "../../model/unless_aborted.ts";
import type { Asker } from "../../outgoing/remote_system.ts";
import { InvalidToken } from "../signed_token.ts";
import type { IssuerKeys } from "./access_token.ts";
import type { Provider } from "./provider.ts";

/** How long keys count without having been seen again, in milliseconds: the longest outage without consequences. */
const KEPT_MS = 24 * 60 * 60_000;
/** When keys are fetched again: so long does one count that the issuer has withdrawn. */
const REFRESH_MS = 10 * 60_000;
/** Shortest time between two fetches, whoever causes them. */
const PAUSE_MS = 30_000;
/** Longest time that a start waits for keys. */
const WARM_UP_MS = 5_000;

interface Held {
  readonly set: LocalJWKSet;
  /** What was found in it, by algorithm and name. */
  readonly found: Map<string, readonly KeyObject[]>;
  readonly body: string;
  /** As the stopwatch counts. */
  readonly since: number;
}

/**
 * The public keys of one issuer: fetched before they are needed and every ten minutes, for a token that names an unknown one
 * at most once in 30 seconds, and kept for a day where the issuer does not answer.
 */
export class KeySet implements IssuerKeys {
  readonly #provider: Provider;
  readonly #elapsed: Stopwatch;
  readonly #schedule: Schedule;
  readonly #log: Logger;
  readonly #fetching = new SingleFlight<void>();
  readonly #closing = new AbortController();
  #held: Held | undefined;
  #attempt: { readonly at: number; readonly failure?: unknown } | undefined;
  #callOff: () => void = () => {};

  constructor(
    { provider, elapsed = stopwatch, schedule = realTime, log }: {
      readonly provider: Provider;
      readonly elapsed?: Stopwatch;
      readonly schedule?: Schedule;
      readonly log: Logger;
    },
  ) {
    this.#provider = provider;
    this.#elapsed = elapsed;
    this.#schedule = schedule;
    this.#log = log;
  }

  /** Fetches the keys for the first time; does not wait for ever, and does not fail. */
  async warmUp(): Promise<void> {
    try {
      await unlessAborted(this.#fetch(), AbortSignal.timeout(WARM_UP_MS));
    } catch (error) {
      this.#log.warn("keys of the issuer not there yet: its tokens are refused for now", { error });
    }
  }

  async matching(
    header: { readonly alg: string; readonly kid: string | undefined },
    signal: AbortSignal,
  ): Promise<readonly KeyObject[]> {
    const known = await this.#matchingNow(header);
    if (known.length > 0) return known;
    if (this.#current() === undefined || this.#isDue()) await unlessAborted(this.#fetch(), signal);
    else if (this.#attempt?.failure !== undefined) throw this.#attempt.failure;
    const found = await this.#matchingNow(header);
    if (found.length === 0) throw new InvalidToken("signed by a key that the issuer does not have");
    return found;
  }

  close(): void {
    this.#callOff();
    this.#closing.abort(new Error("the method is closing"));
  }

  /** What is held and not too old. */
  #current(): Held | undefined {
    const held = this.#held;
    return held !== undefined && this.#elapsed() - held.since < KEPT_MS ? held : undefined;
  }

  #isDue(): boolean {
    return this.#attempt === undefined || this.#elapsed() - this.#attempt.at >= PAUSE_MS;
  }

  async #matchingNow(
    header: { readonly alg: string; readonly kid: string | undefined },
  ): Promise<readonly KeyObject[]> {
    const held = this.#current();
    if (held === undefined) return [];
    const { alg, kid } = header;
    const question = JSON.stringify([alg, kid]);
    const known = held.found.get(question);
    if (known !== undefined) return known;
    try {
      const found = await find(held.set, header);
      held.found.set(question, found);
      return found;
    } catch (error) {
      if (error instanceof errors.JOSEError) return [];
      this.#log.warn("a key of the issuer cannot be used", { kid, error });
      return [];
    }
  }

  /** @throws {RemoteUnavailable} */
  async #fetch(): Promise<void> {
    await this.#fetching.join("keys", async () => {
      this.#callOff();
      try {
        await this.#fetchNow();
        this.#attempt = { at: this.#elapsed() };
      } catch (failure) {
        this.#attempt = { at: this.#elapsed(), failure };
        throw failure;
      } finally {
        this.#planNext();
      }
    }, this.#closing.signal);
  }

  async #fetchNow(): Promise<void> {
    const { body, keys, leftOut } = await this.#provider.keys(this.#asker());
    const since = this.#elapsed();
    if (this.#held?.body === body) {
      this.#held = { ...this.#held, since };
      return;
    }
    this.#held = { set: createLocalJWKSet(keys), found: new Map(), body, since };
    const ids = keys.keys.map(({ kid = "(without name)", alg, kty }) => `${kid} ${alg ?? kty}`);
    this.#log.info("keys of the issuer", { keys: ids, ...(leftOut.length > 0 && { leftOut }) });
  }

  /** On our own behalf: nobody's credential, and nobody's turn. */
  #asker(): Asker {
    return { queueKey: "keys", known: true, credential: "keys", address: "keys", signal: this.#closing.signal };
  }

  #planNext(): void {
    if (this.#closing.signal.aborted) return;
    const failed = this.#attempt?.failure !== undefined;
    this.#callOff = this.#schedule(failed ? PAUSE_MS : REFRESH_MS, () => {
      this.#fetch().catch((error) => {
        if (this.#closing.signal.aborted) return;
        this.#log.warn("keys of the issuer not renewed, the last ones hold for a day", { error });
      });
    });
  }
}

/** The keys that fit, in the form in which signatures are verified. @throws {JOSEError} If there is none. */
async function find(
  set: LocalJWKSet,
  { alg, kid }: { readonly alg: string; readonly kid: string | undefined },
): Promise<readonly KeyObject[]> {
  try {
    return [KeyObject.from(await set({ alg, ...(kid !== undefined && { kid }) }))];
  } catch (error) {
    if (!(error instanceof errors.JWKSMultipleMatchingKeys)) throw error;
    return (await Array.fromAsync(error)).map((key) => KeyObject.from(key));
  }
}
