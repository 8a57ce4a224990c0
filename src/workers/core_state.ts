import { isDeepStrictEqual } from "node:util";
import type { ServiceConfig, ThrottlingConfig } from "../config/service_config.ts";
import { commandAddress } from "../daemon/exchange.ts";
import { type Clock, steadyClock } from "../model/clock.ts";
import { PROOFS, ReplayCache } from "../model/replay_cache.ts";
import type { LoginUpdate, StateUpdate } from "../service/state_update.ts";
import { ThrottlingMemory } from "../throttling/memory.ts";

/** Most records of each kind, as many as login throttling hands over. */
const CAPACITY = 10_000;

/** State that the cores published, kept by the supervisor for their successors. It decides nothing. */
export class CoreState {
  #config: ThrottlingConfig;
  #throttling: ThrottlingMemory;
  #rest: Omit<StateUpdate, keyof LoginUpdate> = {};
  readonly #proofs = new ReplayCache(PROOFS, Date.now);
  readonly #steady: Clock;

  constructor(config: ThrottlingConfig, steady: Clock = steadyClock) {
    this.#config = config;
    this.#steady = steady;
    this.#throttling = create(config, steady);
  }

  /** Returns the login state. */
  get logins() {
    return { throttling: this.#throttling.state(), proofs: this.#proofs.seen() };
  }

  /** Returns the rest for a core with these servers; forgets other servers' daemons. */
  initial({ servers }: Pick<ServiceConfig, "servers">): StateUpdate {
    const addresses = servers.flatMap(({ instances }) =>
      instances.map(({ commandHost, commandPort }) => commandAddress(commandHost, commandPort))
    );
    const daemons = [...this.#rest.daemons ?? []].filter(([address]) => addresses.includes(address));
    return this.#rest = { ...this.#rest, daemons: new Map(daemons) };
  }

  /** @param outdated Whether the core has a successor: then only its logins count. */
  adopt(
    { throttling, proofs = [], signedOut: _, daemons = new Map(), ...rest }: StateUpdate,
    outdated = false,
  ): void {
    if (throttling !== undefined) this.#throttling.adopt(throttling);
    this.#proofs.adopt(proofs);
    if (outdated) return;
    this.#rest = { ...this.#rest, ...rest, daemons: new Map([...this.#rest.daemons ?? [], ...daemons]) };
  }

  /** Applies other limits; running delays stay. */
  configure(config: ThrottlingConfig): void {
    if (isDeepStrictEqual(config, this.#config)) return;
    const state = this.#throttling.state();
    this.#config = config;
    this.#throttling = create(config, this.#steady);
    this.#throttling.adopt(state);
  }
}

function create(config: ThrottlingConfig, steady: Clock): ThrottlingMemory {
  return new ThrottlingMemory({ config, steady, clock: Date.now, capacity: CAPACITY });
}
