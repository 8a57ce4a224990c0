import { ask, type Question } from "../system/ask.ts";

/** Number of concurrent requests. */
const LOOPS = 4;
/** Pause between two requests of a loop, in milliseconds: the machine has other work, too. */
const PAUSE_MS = 250;

/** Counts of a client's requests in some time. */
interface Tally {
  logins: number;
  sessions: number;
  failures: number;
  /** Longest time until a request had its answer, including retries, in milliseconds. */
  longestMs: number;
}

/** Counts of all requests of a client. */
export interface Summary extends Readonly<Tally> {
  /** Number of failed requests by reason. */
  readonly reasons: ReadonlyMap<string, number>;
}

/**
 * Client that logs in and requests sessions in a loop, each time on a new connection. It repeats a failed
 * request until it succeeds.
 */
export class LoopingClient {
  readonly #all: Tally = nothing();
  readonly #reasons = new Map<string, number>();
  #latest = nothing();
  #stopped = false;
  readonly #loops: Promise<unknown>;

  /** @param url URL of the service, such as `https://localhost:9000`. @param ca Trusted authority, as PEM. */
  constructor(
    private readonly url: string,
    private readonly ca: string,
    private readonly as: NonNullable<Question["as"]>,
    /** Logical server of the sessions. */
    private readonly server: string,
  ) {
    this.#loops = Promise.all(Array.from({ length: LOOPS }, () => this.#loop()));
  }

  /** Returns the counts since the last call. */
  latest(): Readonly<Tally> {
    const latest = this.#latest;
    this.#latest = nothing();
    return latest;
  }

  /** Finishes pending requests. @returns Counts of all requests. */
  async stop(): Promise<Summary> {
    this.#stopped = true;
    await this.#loops;
    return { ...this.#all, reasons: this.#reasons };
  }

  async #loop(): Promise<void> {
    while (!this.#stopped) {
      await this.#until("logins", "/rest/auth");
      await this.#until("sessions", `/rest/auth/${this.server}`, { serverPath: "" });
    }
  }

  async #until(what: "logins" | "sessions", path: string, body?: Question["body"]): Promise<void> {
    const began = performance.now();
    while (!await this.#succeeds(path, body) && !this.#stopped);
    const passed = performance.now() - began;
    for (const tally of [this.#all, this.#latest]) {
      tally[what]++;
      tally.longestMs = Math.max(tally.longestMs, passed);
    }
  }

  async #succeeds(path: string, body: Question["body"]): Promise<boolean> {
    const failure = await ask(this.url + path, this.ca, { as: this.as, body }).then(
      ({ status }) => status === 200 ? undefined : `answered ${status}`,
      (error: Error) => `no answer: ${error.message}`,
    );
    if (failure !== undefined) {
      this.#reasons.set(failure, (this.#reasons.get(failure) ?? 0) + 1);
      for (const tally of [this.#all, this.#latest]) tally.failures++;
    }
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    return failure === undefined;
  }
}

function nothing(): Tally {
  return { logins: 0, sessions: 0, failures: 0, longestMs: 0 };
}
