import type { Schedule } from "../../src/model/schedule.ts";

/** Time that stands still until it is moved. */
export class VirtualTime {
  now = Date.parse("2026-01-05T09:00:00Z");
  #tasks: { readonly at: number; readonly task: () => void }[] = [];

  readonly clock = (): number => this.now;

  readonly schedule: Schedule = (ms, task) => {
    const entry = { at: this.now + ms, task };
    this.#tasks.push(entry);
    return () => {
      this.#tasks = this.#tasks.filter((other) => other !== entry);
    };
  };

  /** Tasks that wait for their time. */
  get pending(): number {
    return this.#tasks.length;
  }

  /** Moves on and runs what falls due, in order, letting each task's work come to rest in between. */
  async advance(ms: number, rest: () => Promise<unknown>): Promise<void> {
    const end = this.now + ms;
    for (;;) {
      const [next] = this.#tasks.filter(({ at }) => at <= end).sort((a, b) => a.at - b.at);
      if (next === undefined) break;
      this.#tasks = this.#tasks.filter((other) => other !== next);
      this.now = Math.max(this.now, next.at);
      next.task();
      await rest();
    }
    this.now = end;
  }
}
