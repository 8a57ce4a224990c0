/** The operator, who bans a user at one instance and lifts the ban at another. */
import { runCommand } from "../../src/command/run_command.ts";
import { recordedIo } from "../command/recorded_io.ts";
import { BOB } from "../system/sharing/sharing_system.ts";
import type { Surroundings } from "./campaign.ts";
import type { Draw } from "./faults.ts";
import { type BanOrder, type BanProbe, checkBans } from "./history.ts";

/** Exit status of a ban or lift that took effect at this instance, but that some others do not know yet. */
const UNTOLD = 3;
/** Longest time until other instances know a ban or lift while nothing fails, in milliseconds. */
const NEWS_MS = 1000;

export class BanClient {
  readonly #orders: BanOrder[] = [];
  readonly #probes: BanProbe[] = [];
  /** Instances that may still report a ban to the others, which then takes effect. */
  readonly #late = new Set<number>();

  constructor(readonly surroundings: Surroundings) {}

  get count(): number {
    return this.#orders.length;
  }

  async step(draw: Draw): Promise<void> {
    const { instance, instances, now, quiet } = this.surroundings;
    const number = draw(instances);
    const last = this.#orders.at(-1);
    const isBan = last === undefined || !last.isBan || draw(4) === 0;
    const order: BanOrder = { isBan, at: number, isSure: false, isKnown: false };
    this.#orders.push(order);
    const io = recordedIo();
    const args = ["ban", isBan ? "add" : "remove", "--user", BOB[0], "--config", instance(number).main];
    const status = await runCommand(args, io).catch(() => undefined);
    const ended = now();
    order.isKnown = status === 0 || (isBan && status === UNTOLD);
    if (status === 0) this.#late.delete(number);
    else if (isBan) this.#late.add(number);
    order.isSure = status === 0 && (isBan || this.#late.size === 0);
    if (!order.isKnown || (!isBan && !order.isSure)) return;
    for (let turn = 0; turn < 3; turn++) {
      const other = turn === 0 ? number : draw(instances);
      const began = now();
      const mustKnow = other === number || (quiet.between(ended, began) && began - ended > NEWS_MS);
      await this.#probe(other, { isBan, mustKnow });
    }
  }

  /** Sends a request to each instance, once all instances know all bans and lifts. */
  async finish(): Promise<readonly string[]> {
    const outcomes: BanProbe[] = [];
    for (let number = 0; number < this.surroundings.instances; number++) {
      await this.#probe(number, { isBan: this.#orders.at(-1)?.isBan ?? false, mustKnow: false });
      const probe = this.#probes.pop();
      if (probe !== undefined) outcomes.push(probe);
    }
    return checkBans(this.#orders, this.#probes, outcomes);
  }

  async #probe(number: number, expected: Pick<BanProbe, "isBan" | "mustKnow">): Promise<void> {
    const { instance, ask } = this.surroundings;
    const reply = await ask(instance(number), "/rest/auth", { as: BOB });
    this.#probes.push({ ...expected, at: number, outcome: reply?.status ?? "cut" });
  }
}
