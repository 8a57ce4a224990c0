import { canonicalDn } from "../../model/distinguished_name.ts";
import type { Identity } from "../../model/identity.ts";
import { type Clock, epochSeconds } from "../../model/clock.ts";
import { isJsonObject } from "../../model/json_object.ts";
import type { RecordStore } from "../../store/record_store.ts";

const KIND = "person";

const TTL = 365 * 24 * 3600; // seconds after the last sign-in: a year

interface Person {
  readonly dn: string; // as authenticated
  readonly name: string; // for display: users choose it, so shares name distinguished names
}

/** People who have signed in on pages, whom pages suggest to others (`share.suggestPeople`). */
export class People {
  constructor(
    readonly records: () => RecordStore | undefined,
    readonly clock: Clock,
    readonly nameOf: (dn: string) => string, // common name
  ) {}

  /** Remembers a user who signs in. @throws {ERR_RECORD_STORE} */
  async remember({ dn, displayName }: Pick<Identity, "dn" | "displayName">): Promise<void> {
    const made = epochSeconds(this.clock);
    const [key, content] = [canonicalDn(dn), { dn, name: displayName ?? this.nameOf(dn) }];
    await this.records()?.put(KIND, { key, owner: key, made, ends: made + TTL, content }, 1);
  }

  /** Returns all people, sorted by name. */
  async all(): Promise<readonly Person[]> {
    const records = await this.records()?.list(KIND) ?? [];
    return records.map(({ content }) => content).filter(isPerson)
      .toSorted((a, b) => a.name.localeCompare(b.name));
  }
}

function isPerson(content: unknown): content is Person {
  return isJsonObject(content) && typeof content["dn"] === "string" && typeof content["name"] === "string";
}
