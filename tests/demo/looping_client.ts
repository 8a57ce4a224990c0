import { ask, type Question } from "../system/ask.ts";

/** So many requests are under way at once. */
const LOOPS = 4;
/** Between two requests of a loop, in milliseconds: the machine has more to do. */
const PAUSE_MS = 100;

/** What a client asked for in some time. */
interface Tally {
  logins: number;
  sessions: number;
  failures: number;
  /** Until a request had its answer, those that were sent again included, in milliseconds. */
  longestMs: number;
}

/** What a client saw in all. */
export interface Summary extends Readonly<Tally> {
  /** How requests failed, with how many did so. */
  readonly reasons: ReadonlyMap<string, number>;
}

/**
 * Logs in and asks for sessions, again and again, each time on a connection of its own. What fails it sends once more, until
 * there is an answer.
 */
export class LoopingClient {
  readonly #all: Tally = nothing();
  readonly #reasons = new Map<string, number>();
  #latest = nothing();
  #stopped = false;
  readonly #loops: Promise<unknown>;

  /** @param url Of the service, such as `https://localhost:9000`. @param ca Whose certificate counts, as PEM. */
  constructor(
    private readonly url: string,
    private readonly ca: string,
    private readonly as: NonNullable<Question["as"]>,
    /** Logical server that sessions are asked for. */
    private readonly server: string,
  ) {
    this.#loops = Promise.all(Array.from({ length: LOOPS }, () => this.#loop()));
  }

  /** What was seen since this was asked last. */
  latest(): Readonly<Tally> {
    const latest = this.#latest;
    this.#latest = nothing();
    return latest;
  }

  /** Finishes what is under way. @returns What was seen in all. */
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
