import { isDeepStrictEqual } from "node:util";
import type { RegulationConfig } from "../config/service_config.ts";
import { type Clock, steadyClock } from "../model/clock.ts";
import type { RegulationNews, RegulationState } from "../regulation/regulation_state.ts";
import { RegulationMemory } from "../regulation/memory.ts";
import type { DeskAnswer, DeskQuestion } from "../service/operator_desk.ts";

/** Records of each kind: as many as a regulator hands over. */
const CAPACITY = 10_000;

/**
 * What the cores know of failed logins and bans, outside of them: a core that dies takes none of it along, and one that
 * starts begins with it. It admits nobody and keeps nobody out.
 */
export class RegulationCopy {
  #config: RegulationConfig;
  #memory: RegulationMemory;
  readonly #steady: Clock;

  /** @param steady For durations. */
  constructor(config: RegulationConfig, steady: Clock = steadyClock) {
    this.#config = config;
    this.#steady = steady;
    this.#memory = create(config, steady);
  }

  get state(): RegulationState {
    return this.#memory.state();
  }

  /** A core learned something. */
  adopt(news: RegulationNews): void {
    this.#memory.adopt(news);
  }

  /** The operator had a core do something. */
  follow(question: DeskQuestion, answer: DeskAnswer): void {
    if (question.about === "ban") {
      const untold = answer.about === "ban" ? answer.untold : undefined;
      this.#memory.ban(question.subject, question.until, untold);
    } else if (question.about === "lift") this.#memory.lift(question.subject);
  }

  /** Other waits hold from now on; those that run go on. */
  configure(config: RegulationConfig): void {
    if (isDeepStrictEqual(config, this.#config)) return;
    const { state } = this;
    this.#config = config;
    this.#memory = create(config, this.#steady);
    this.#memory.adopt(state);
  }
}

function create(config: RegulationConfig, steady: Clock): RegulationMemory {
  return new RegulationMemory({ config, steady, clock: Date.now, capacity: CAPACITY });
}
