import type { AttributeSet, StandardAttribute } from "../model/attributes.ts";
import type { Identity } from "../model/identity.ts";
import type { AttributeSource } from "./attribute_source.ts";

/** All that a dynamic source may decide: not who may do what, only as which account. */
const DECIDED: readonly StandardAttribute[] = ["xlogin", "group", "supplementaryGroups"];

/** A source of which only accounts and groups count. */
export class AccountsOnly implements AttributeSource {
  readonly name: string;
  readonly #source: AttributeSource;

  constructor(source: AttributeSource) {
    this.name = source.name;
    this.#source = source;
  }

  async attributesOf(identity: Identity, signal: AbortSignal): Promise<AttributeSet> {
    const { standard } = await this.#source.attributesOf(identity, signal);
    const decided = [...standard].filter(([name]) => DECIDED.includes(name));
    return { standard: new Map(decided), extra: new Map() };
  }

  close(): void {
    this.#source.close();
  }
}
