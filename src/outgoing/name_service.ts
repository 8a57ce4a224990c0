import { canonicalAddress } from "../model/address.ts";
import { SingleFlight } from "../model/single_flight.ts";
import { FairSemaphore } from "../model/fair_semaphore.ts";

/** Longest time for the names of one request together, in milliseconds. */
const MAX_WAIT_MS = 3000;

/** Names looked up at the same time, over all requests and of one caller; the others wait. */
const LIMITS = { atOnce: 16, atOncePerKey: 4, waiting: 256, perKey: 32 };

/** A name as the name service has it (RFC 1123, 2.1, with the underscore in use): the last part is no number. */
const NAME = /^(?:[A-Za-z0-9_][A-Za-z0-9_-]{0,62}\.){0,126}[A-Za-z][A-Za-z0-9_-]{0,62}\.?$/;
const MAX_LENGTH = 253;

/** Asks the name service for the records of one type; rejected if there are none. */
type AskNameService = (
  name: string,
  type: "A" | "AAAA",
  signal: AbortSignal,
) => Promise<readonly string[]>;

const askSystem: AskNameService = (name, type, signal) => Deno.resolveDns(name, type, { signal });

/** Who wants to know. */
interface NameQuestion {
  /** Address of the caller: callers take turns. */
  readonly caller: string;
  readonly signal: AbortSignal;
}

/** Addresses of names that callers give: by the name service alone (A and AAAA), a few at a time, and for a short time. */
export class NameService {
  readonly #ask: AskNameService;
  readonly #maxWaitMs: number;
  readonly #semaphore = new FairSemaphore(LIMITS);
  readonly #flights = new SingleFlight<readonly string[]>();

  constructor({ ask = askSystem, maxWaitMs = MAX_WAIT_MS }: {
    readonly ask?: AskNameService;
    readonly maxWaitMs?: number;
  } = {}) {
    this.#ask = ask;
    this.#maxWaitMs = maxWaitMs;
  }

  /**
   * @returns The addresses of each name, in canonical form and in the order of the names: none for what is no name, is
   * not known, or was not found out in time.
   * @throws The signal's reason, if it is aborted.
   */
  async addressesOf(
    names: readonly string[],
    { caller, signal }: NameQuestion,
  ): Promise<(readonly string[])[]> {
    const seeker = {
      queueKey: caller,
      known: true,
      signal: AbortSignal.any([signal, AbortSignal.timeout(this.#maxWaitMs)]),
    };
    const found = await Promise.allSettled(names.map((name) => {
      if (name.length > MAX_LENGTH || !NAME.test(name)) return [];
      const ask = (signal: AbortSignal) =>
        this.#semaphore.run(() => this.#lookUp(name, signal), { ...seeker, signal });
      return this.#flights.join(name.toLowerCase(), ask, seeker.signal);
    }));
    signal.throwIfAborted();
    return found.map((answer) => answer.status === "fulfilled" ? answer.value : []);
  }

  async #lookUp(name: string, signal: AbortSignal): Promise<readonly string[]> {
    const types = ["A", "AAAA"] as const;
    const answers = await Promise.allSettled(types.map((type) => this.#ask(name, type, signal)));
    const found = answers.flatMap((answer) => answer.status === "fulfilled" ? answer.value : []);
    return [...new Set(found.flatMap((address) => canonicalAddress(address) ?? []))];
  }
}
