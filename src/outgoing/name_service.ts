import { canonicalAddress } from "../model/address.ts";
import { SingleFlight } from "../model/single_flight.ts";
import { FairSemaphore } from "../model/fair_semaphore.ts";

const MAX_WAIT_MS = 3000; // for all names of one request

/** Concurrent lookups in all and per caller. */
const LIMITS = { maxConcurrent: 16, maxConcurrentPerKey: 4, waiting: 256, perKey: 32 };

/** Host name (RFC 1123, 2.1, and underscores); the last label is not numeric. */
const NAME = /^(?:[A-Za-z0-9_][A-Za-z0-9_-]{0,62}\.){0,126}[A-Za-z][A-Za-z0-9_-]{0,62}\.?$/;
const MAX_LENGTH = 253;

/** Queries records of a type; rejects if there are none. */
type AskNameService = (name: string, type: "A" | "AAAA", signal: AbortSignal) => Promise<readonly string[]>;

const askSystem: AskNameService = (name, type, signal) => Deno.resolveDns(name, type, { signal });

/** Resolves names from callers by DNS only (A and AAAA), with limits on number and time. */
export class NameService {
  readonly #semaphore = new FairSemaphore(LIMITS);
  readonly #flights = new SingleFlight<readonly string[]>();

  constructor(readonly parts: { readonly ask?: AskNameService; readonly maxWaitMs?: number } = {}) {}

  /** Returns canonical addresses of each name; empty if unknown or too slow. @throws The signal's reason. */
  async addressesOf(
    names: readonly string[],
    { caller, signal }: { readonly caller: string; readonly signal: AbortSignal },
  ): Promise<(readonly string[])[]> {
    const limit = AbortSignal.timeout(this.parts.maxWaitMs ?? MAX_WAIT_MS);
    const waiter = { queueKey: caller, known: true, signal: AbortSignal.any([signal, limit]) };
    const found = await Promise.allSettled(names.map((name) => {
      if (name.length > MAX_LENGTH || !NAME.test(name)) return [];
      const ask = (signal: AbortSignal) =>
        this.#semaphore.run(() => this.#lookUp(name, signal), { ...waiter, signal });
      return this.#flights.join(name.toLowerCase(), ask, waiter.signal);
    }));
    signal.throwIfAborted();
    return found.map((answer) => answer.status === "fulfilled" ? answer.value : []);
  }

  async #lookUp(name: string, signal: AbortSignal): Promise<readonly string[]> {
    const { ask = askSystem } = this.parts;
    const answers = await Promise.allSettled([ask(name, "A", signal), ask(name, "AAAA", signal)]);
    const found = answers.flatMap((answer) => answer.status === "fulfilled" ? answer.value : []);
    return [...new Set(found.flatMap((address) => canonicalAddress(address) ?? []))];
  }
}
