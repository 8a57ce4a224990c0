import { isDeepStrictEqual } from "node:util";
import type { ThrottlingConfig } from "../config/service_config.ts";
import { type Clock, steadyClock } from "../model/clock.ts";
import type { ThrottlingNews, ThrottlingState } from "../throttling/throttling_state.ts";
import { ThrottlingMemory } from "../throttling/memory.ts";
import type { DeskAnswer, DeskQuestion } from "../service/operator_desk.ts";

/** Records of each kind: as many as a login throttle hands over. */
const CAPACITY = 10_000;

/**
 * What the cores know of failed logins and bans, outside of them: a core that dies takes none of it along, and one that
 * starts begins with it. It admits nobody and keeps nobody out.
 */
export class ThrottlingCopy {
  #config: ThrottlingConfig;
  #memory: ThrottlingMemory;
  readonly #steady: Clock;

  /** @param steady For durations. */
  constructor(config: ThrottlingConfig, steady: Clock = steadyClock) {
    this.#config = config;
    this.#steady = steady;
    this.#memory = create(config, steady);
  }

  get state(): ThrottlingState {
    return this.#memory.state();
  }

  /** A core learned something. */
  adopt(news: ThrottlingNews): void {
    this.#memory.adopt(news);
  }

  /** The operator had a core do something. */
  follow(question: DeskQuestion, answer: DeskAnswer): void {
    if (question.about === "ban") {
      const pending = answer.about === "ban" ? answer.pending : undefined;
      this.#memory.ban(question.subject, question.until, pending);
    } else if (question.about === "lift") this.#memory.lift(question.subject);
  }

  /** Other waits hold from now on; those that run go on. */
  configure(config: ThrottlingConfig): void {
    if (isDeepStrictEqual(config, this.#config)) return;
    const { state } = this;
    this.#config = config;
    this.#memory = create(config, this.#steady);
    this.#memory.adopt(state);
  }
}

function create(config: ThrottlingConfig, steady: Clock): ThrottlingMemory {
  return new ThrottlingMemory({ config, steady, clock: Date.now, capacity: CAPACITY });
}
