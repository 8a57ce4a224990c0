import { canonicalDn, ifName, parseName } from "../../model/distinguished_name.ts";
import type { Identity } from "../../model/identity.ts";
import type { Clock } from "../../model/clock.ts";
import { isJsonObject } from "../../authentication/json_object.ts";
import type { RecordStore } from "../../store/record_store.ts";
import { invalidRequest } from "../../model/http_error.ts";

const KIND = "person";

/** Seconds after the last sign-in: a year. */
const KEPT = 365 * 24 * 3600;

interface Person {
  readonly dn: string; // as authenticated
  readonly name: string; // for people
}

/** People who have signed in on pages, whom others find by name (`share.suggestPeople`). */
export class People {
  constructor(
    readonly records: () => RecordStore | undefined,
    readonly clock: Clock,
    readonly nameOf: (dn: string) => string, // common name
  ) {}

  /** Remembers somebody who signs in. @throws {ERR_RECORD_STORE} */
  async remember({ dn, displayName }: Pick<Identity, "dn" | "displayName">): Promise<void> {
    const made = Math.floor(this.clock() / 1000);
    const [key, content] = [canonicalDn(dn), { dn, name: displayName ?? this.nameOf(dn) }];
    await this.records()?.put(KIND, { key, owner: key, made, ends: made + KEPT, content }, 1);
  }

  /** Returns everybody, in the order of names. */
  async all(): Promise<readonly Person[]> {
    const records = await this.records()?.list(KIND) ?? [];
    return records.map(({ content }) => content).filter(isPerson)
      .toSorted((a, b) => a.name.localeCompare(b.name));
  }

  /** Returns the distinguished name of the person of a name; distinguished names and other texts as they are. @throws {ERR_INVALID_REQUEST} */
  async find(text: string): Promise<string> {
    if (ifName(() => parseName(text).length > 0)) return text; // nobody's display name stands in its place
    const wanted = text.trim().toLowerCase();
    const found = (await this.all()).filter(({ name }) => name.toLowerCase() === wanted);
    if (found.length > 1) {
      const names = found.map(({ dn }) => dn).join("; ");
      throw invalidRequest(`Several people have this name, write one of: ${names}`);
    }
    return found[0]?.dn ?? text;
  }
}

function isPerson(content: unknown): content is Person {
  return isJsonObject(content) && typeof content["dn"] === "string" && typeof content["name"] === "string";
}
