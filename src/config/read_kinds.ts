import { didYouMean } from "./did_you_mean.ts";
import type { KeyReader } from "./key_reader.ts";
import { allKinds, type ClassUse, type Kind, type KindEntry, type KindList } from "./kind.ts";
import type { KindConfig } from "./kind_config.ts";
import type { METHOD } from "./keys/authentication_keys.ts";
import type { Section } from "./section.ts";

/** Returns a kind's keys with the common ones. */
export function sectionOf(common: Section, { title, keys, ignored }: Kind): Section {
  return { ...common, title, keys: { ...common.keys, ...keys }, ignored };
}

/**
 * Reads configured authenticators or sources in order.
 * @param options.prefix Such as `container.security.attributes.`.
 * @param options.order Absent if unreadable: all are ignored.
 * @param options.common Keys of all.
 */
export async function readKinds(
  reader: KeyReader,
  { prefix, order, common, list }: {
    readonly prefix: string;
    readonly order: readonly string[] | undefined;
    readonly common: typeof METHOD;
    readonly list: KindList;
  },
): Promise<readonly KindConfig[]> {
  const names = reader.namesBelow(prefix);
  if (order === undefined) {
    for (const name of names) reader.skip(`${prefix}${name}.`);
    return [];
  }
  const listed = new ListedReader(reader, prefix, { ...common, elsewhere: () => javaNames(list) }, list);
  const configs = await listed.read(order, `${prefix}order`);
  for (const name of names) {
    if (!listed.used.has(name)) {
      reader.leave(`${prefix}${name}.`, `not used, ${name} is not in ${prefix}order`);
    }
  }
  return configs;
}

/** Returns lower-case key names of Java classes of this sort. */
async function javaNames(list: KindList): Promise<ReadonlySet<string>> {
  const names = (await allKinds(list)).flatMap(({ keys, ignored = {} }) => [
    ...Object.entries(keys).flatMap(([field, key]) =>
      key.shape === "many" || key.added ? [] : [key.name ?? field]
    ),
    ...Object.keys(ignored),
  ]);
  return new Set(names.map((name) => name.toLowerCase()));
}

class ListedReader {
  readonly used = new Set<string>(); // names in the order, or members
  readonly #classes: ReadonlyMap<string, { readonly entry: KindEntry; readonly as: string }>;
  /** Implied classes by name (authentication.md 1.2, rest-api.md 3.8). */
  readonly #defaults: ReadonlyMap<string, string>;

  constructor(
    readonly reader: KeyReader,
    readonly prefix: string,
    readonly common: typeof METHOD,
    readonly list: KindList,
  ) {
    const { kinds, refused } = list;
    const uses = kinds.flatMap((entry) =>
      Object.entries(entry.classes).map(([name, use]) => ({ entry, name, use }))
    );
    this.#classes = new Map(uses.map(({ entry, name, use }) => [name, { entry, as: use.as ?? name }]));
    this.#defaults = new Map([
      ...uses.flatMap(({ name, use }) => namesOf(name, use)),
      ...Object.entries(refused).flatMap(([name, use]) => namesOf(name, use)),
    ]);
  }

  /** @param open Enclosing names, against cycles. */
  async read(
    order: readonly string[],
    orderKey: string,
    open: readonly string[] = [],
  ): Promise<readonly KindConfig[]> {
    const configs: KindConfig[] = [];
    for (const name of order) {
      const config = await this.#readOne(name, orderKey, open);
      if (config !== undefined) configs.push(config);
    }
    return configs;
  }

  async #readOne(name: string, orderKey: string, open: readonly string[]): Promise<KindConfig | undefined> {
    const { reader, common } = this;
    const prefix = `${this.prefix}${name}.`;
    this.used.add(name);
    const around = [...open, name];
    if (open.includes(name)) {
      reader.error(orderKey, `expected a chain that does not contain itself: ${around.join(" > ")}`);
      return undefined;
    }
    const first = reader.read(common, prefix);
    const className = first?.class ?? this.#defaults.get(name);
    const found = this.#classes.get(className ?? "");
    if (first === undefined || found === undefined) {
      if (first !== undefined) {
        const key = first.class === undefined ? orderKey : `${prefix}class`;
        reader.error(
          key,
          className === undefined ? this.#unnamed(name) : this.#unknown(className),
          first.class,
        );
      }
      reader.skip(prefix);
      return undefined;
    }
    const kind = await found.entry.load();
    const values = reader.read(sectionOf(common, kind), prefix);
    if (values === undefined) return undefined;
    const { class: _, ...own } = values;
    const members = (order: readonly string[], key: string) => this.read(order, key, around);
    const settings = await kind.read(own, { reader, name, prefix, members });
    return settings && { kind: found.as, name, ...settings };
  }

  #unnamed(name: string): string {
    const guess = didYouMean(name, this.#defaults.keys());
    const hint = guess === undefined ? "" : `, did you mean ${guess}?`;
    return `expected ${this.prefix}${name}.class too, since ${name} has no default class${hint}`;
  }

  #unknown(className: string): string {
    const refused = new Map(Object.entries(this.list.refused)).get(className);
    if (refused !== undefined) return refused.expected;
    const guess = didYouMean(className, this.#classes.keys());
    const hint = guess === undefined ? "" : `, did you mean ${guess}?`;
    return `expected one of the classes ${[...this.#classes.keys()].join(", ")}${hint}`;
  }
}

function namesOf(className: string, { names = [] }: Pick<ClassUse, "names">): [string, string][] {
  return names.map((name) => [name, className]);
}
