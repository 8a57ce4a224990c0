import { describeError, type Logger } from "./logger.ts";

/** Destinations of lines and records, as `status` and metrics name them. */
type SinkName = keyof typeof LABELS;

export interface SinkState {
  readonly name: SinkName;
  readonly failure?: { readonly reason: string; readonly since: number }; // absent while writes succeed
  readonly lost: number; // lines or records that were never written, since the start
}

/** Health of a destination of writes. Logs one error when writes begin to fail, and one line when they succeed again. */
export class Sink {
  /** Tries a write without content. Default: only real writes show that they succeed again. */
  retry: (() => void) | undefined;
  #failure: Readonly<{ reason: string; since: number; lostBefore: number; places: Set<unknown> }> | undefined;
  #lost = 0;

  /** @param changed Called when writes begin to fail and when they succeed again. */
  constructor(readonly name: SinkName, readonly log: Logger, readonly changed = () => {}) {}

  get failing(): boolean {
    return this.#failure !== undefined;
  }

  get state(): SinkState {
    const { name } = this;
    if (this.#failure === undefined) return { name, lost: this.#lost };
    const { reason, since } = this.#failure;
    return { name, failure: { reason, since }, lost: this.#lost };
  }

  lose(count: number): void {
    this.#lost += count;
  }

  /** @param to File or socket, for the operator. @param lost Lines or records that are lost now. */
  failed(error: unknown, to?: string, lost = 0): void {
    const lostBefore = this.#lost;
    this.#lost += lost;
    if (this.#failure?.places.has(to)) return;
    const reason = to === undefined ? describeError(error) : `${to}: ${describeError(error)}`;
    this.#failure = { since: Date.now(), lostBefore, places: new Set(), ...this.#failure, reason };
    this.#failure.places.add(to); // each is reported once, also if several fail in turn
    this.changed();
    this.log.error(`${LABELS[this.name]} not ${this.#verb}`, { to, error });
  }

  written(): void {
    if (this.#failure === undefined) return;
    const { lostBefore } = this.#failure;
    this.#failure = undefined;
    this.changed();
    this.log.warn(`${LABELS[this.name]} ${this.#verb} again`, { lost: this.#lost - lostBefore });
  }

  get #verb(): string {
    return this.name === "webhook" || this.name === "mail" ? "delivered" : "written";
  }

  /** Retries by a write without content, one at a time. */
  retriedBy(write: () => Promise<unknown>): this {
    this.retry = () => {
      this.retry = undefined;
      void write().then(() => this.written(), () => {}).finally(() => this.retriedBy(write));
    };
    return this;
  }

  /** Writes one record; a failure does not reach the caller. */
  async attempt(write: () => Promise<unknown>): Promise<void> {
    await write().then(() => this.written(), (error) => this.failed(error, undefined, 1));
  }
}

/** Sinks of a core by name. */
export class Sinks {
  readonly #sinks = new Map<SinkName, Sink>();

  constructor(readonly log: Logger) {}

  readonly of = (name: SinkName): Sink =>
    this.#sinks.getOrInsertComputed(name, () => new Sink(name, this.log));

  /** States of the sinks; retries those that fail, if possible. */
  get states(): readonly SinkState[] {
    return [...this.#sinks.values()].map((sink) => {
      if (sink.failing) sink.retry?.();
      return sink.state;
    });
  }
}

const LABELS = {
  audit: "audit lines",
  log: "log file",
  console: "console",
  shares: "share database",
  records: "record database",
  "share-uses": "uses of shares",
  "token-uses": "uses of tokens",
  webhook: "notifications by webhook",
  mail: "notifications by mail",
} as const;
