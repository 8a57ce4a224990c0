import type { Logger } from "../logging/logger.ts";
import { groupNames, isUserAccount } from "../model/account_name.ts";

/** Group that an identity provider or an operator's expression gives a user. */
interface GivenGroup {
  readonly name: string; // from the operator also several with `:` between, as in a map entry
  /** Whether the provider wrote some of it: its users can choose names, so `mine:hpc` must not become `hpc`. */
  readonly foreign: boolean;
}

/** Filter of groups that a daemon accepts; providers list many others. */
export class UnixGroups {
  #warned = false;

  /** @param message Log text; the first time a warning. */
  constructor(readonly message: string, readonly log: Logger) {}

  /** Returns the usable groups without duplicates. */
  among(given: readonly GivenGroup[]): readonly string[] {
    const isUsable = ({ name, foreign }: GivenGroup) =>
      (foreign ? [name] : groupNames(name)).every(isUserAccount);
    const usable = given.filter(isUsable);
    const odd = given.find((group) => !isUsable(group));
    if (odd !== undefined) {
      const facts = { example: odd.name.slice(0, 100), left: given.length - usable.length };
      this.log[this.#warned ? "debug" : "warn"](this.message, facts);
      this.#warned = true;
    }
    return [...new Set(usable.map(({ name }) => name))];
  }
}
