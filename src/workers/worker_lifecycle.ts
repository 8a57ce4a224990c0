import { CannotStart } from "./cannot_start.ts";

/** Serialises changes of workers: each begins with the result of the previous one. */
export class WorkerLifecycle {
  #last: Promise<unknown> = Promise.resolve();
  #announced = false;
  #over = false;

  /** Whether the service stops soon. */
  get endAnnounced(): boolean {
    return this.#announced;
  }

  /** Makes replaced workers announce the shutdown, too. */
  announceEnd(): void {
    this.#announced = true;
  }

  get over(): boolean {
    return this.#over;
  }

  /** Refuses further changes. */
  end(): void {
    this.#over = true;
  }

  /** Runs a change in turn. @throws {CannotStart} If the service is shutting down by then. */
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
