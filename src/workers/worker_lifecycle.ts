import { CannotStart } from "./cannot_start.ts";

/** Changes of workers, one after the other: each begins with what the one before left. */
export class WorkerLifecycle {
  #last: Promise<unknown> = Promise.resolve();
  #announced = false;
  #over = false;

  /** Whether the service is about to shut down, and serves on meanwhile. */
  get endAnnounced(): boolean {
    return this.#announced;
  }

  /** Workers that are still replaced say so, too. */
  announceEnd(): void {
    this.#announced = true;
  }

  /** Whether the service is shutting down. */
  get over(): boolean {
    return this.#over;
  }

  /** Nothing is changed any more. */
  end(): void {
    this.#over = true;
  }

  /** @throws {CannotStart} If the service is shutting down by then. What the change throws. */
  inTurn<T>(change: () => Promise<T> | T): Promise<T> {
    const done = this.#last.then(() => {
      this.throwIfOver();
      return change();
    });
    this.#last = done.catch(() => {}); // whoever asked for the change is told
    return done;
  }

  /** @throws {CannotStart} If the service is shutting down. */
  throwIfOver(): void {
    if (this.#over) throw new CannotStart(["the service is shutting down"]);
  }
}
