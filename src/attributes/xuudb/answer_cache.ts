import type { Clock } from "../../model/clock.ts";

/** Keeps answers for a while; of questions asked at the same time only one goes out. Failures are not kept. */
export class AnswerCache<T> {
  readonly #answers = new Map<string, { readonly answer: T; readonly until: number }>();
  readonly #asked = new Map<string, Promise<T>>();

  /** @param options.lifetimeMs 0: nothing is kept. @param options.size Answers kept at most; the oldest goes first. */
  constructor(
    readonly options: { readonly lifetimeMs: number; readonly size: number; readonly clock: Clock },
  ) {}

  get(question: string, ask: () => Promise<T>): Promise<T> {
    const kept = this.#answers.get(question);
    if (kept !== undefined && this.options.clock() < kept.until) return Promise.resolve(kept.answer);
    const asked = this.#asked.get(question);
    if (asked !== undefined) return asked;
    const asking = this.#ask(question, ask).finally(() => this.#asked.delete(question));
    this.#asked.set(question, asking);
    return asking;
  }

  async #ask(question: string, ask: () => Promise<T>): Promise<T> {
    const answer = await ask();
    const { lifetimeMs, size, clock } = this.options;
    if (lifetimeMs <= 0) return answer;
    this.#answers.delete(question);
    for (const oldest of this.#answers.keys()) {
      if (this.#answers.size < size) break;
      this.#answers.delete(oldest);
    }
    this.#answers.set(question, { answer, until: clock() + lifetimeMs });
    return answer;
  }
}
