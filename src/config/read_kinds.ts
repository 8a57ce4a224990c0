import { suggestion } from "./did_you_mean.ts";
import type { KeyReader } from "./key_reader.ts";
import {
  allKinds,
  type ClassUse,
  type Kind,
  type KindEntry,
  type KindList,
  type OfKind,
  withKinds,
} from "./kind.ts";
import type { KindConfig, LogicalServerConfig } from "./service_config.ts";
import { AUTHENTICATION, METHOD } from "./keys/authentication_keys.ts";
import type { Section } from "./key.ts";
import { ATTRIBUTES, DYNAMIC_ATTRIBUTES, SOURCE } from "./keys/attribute_keys.ts";
import type { Known, Parts, SectionReader } from "./section_reader.ts";

/** Returns a kind's keys with the common ones. */
export function sectionOf(common: Section, { title, keys, added, ignored }: Kind): Section {
  return { ...common, title, added, keys: { ...common.keys, ...keys }, ignored };
}

/** Reads configured authenticators or sources in order. @param options.order Absent if unreadable: all are ignored. */
async function readKinds(
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
      reader.ignoreBelow(`${prefix}${name}.`, `not used, ${name} is not in ${prefix}order`);
    }
  }
  return configs;
}

/** Returns lower-case key names of Java classes of this sort. */
async function javaNames(list: KindList): Promise<ReadonlySet<string>> {
  const names = (await allKinds(list)).flatMap(({ keys, added, ignored = {} }) => [
    ...Object.entries(keys).flatMap(([field, key]) =>
      added || key.shape === "many" || key.added ? [] : [key.name ?? field]
    ),
    ...Object.keys(ignored),
  ]);
  return new Set(names.map((name) => name.toLowerCase()));
}

class ListedReader {
  readonly used = new Set<string>(); // names in the order, or members
  readonly #classes: ReadonlyMap<string, { readonly entry: KindEntry; readonly as: string }>;
  /** Implied classes by name (credentials.md 1.2, rest-api.md 3.8). */
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
          className === undefined
            ? `expected ${prefix}class too, since ${name} has no default class${
              suggestion(name, this.#defaults.keys())
            }`
            : this.#unknown(className),
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

  #unknown(className: string): string {
    const refused = new Map(Object.entries(this.list.refused)).get(className);
    if (refused !== undefined) return refused.expected;
    const known = [...this.#classes.keys()];
    return `expected one of the classes ${known.join(", ")}${suggestion(className, known)}`;
  }
}

function namesOf(className: string, { names = [] }: Pick<ClassUse, "names">): [string, string][] {
  return names.map((name) => [name, className]);
}

/** Reads attribute sources (credentials.md 7.3). */
export const readAttributes = chainReader("attributes", ATTRIBUTES);

/** Reads dynamic sources. */
export const readDynamicAttributes = chainReader("dynamicAttributes", DYNAMIC_ATTRIBUTES);

function chainReader(
  part: "attributes" | "dynamicAttributes",
  section: typeof ATTRIBUTES,
): SectionReader {
  return async (reader, { kinds }) => {
    const keys = reader.read(section);
    const of = { prefix: section.prefix, order: keys?.order, common: SOURCE, list: kinds.sources };
    const sources = await readKinds(reader, of);
    return keys && { [part]: { sources, policy: keys.policy } };
  };
}

/** Reads the authenticators in order (specification 5). */
export async function readAuthentication(
  reader: KeyReader,
  { kinds, servers = [] }: Known,
): Promise<Parts | undefined> {
  const { prefix } = AUTHENTICATION;
  const keys = reader.read(AUTHENTICATION);
  if (keys?.order.length === 0) {
    const expected =
      "no method of authentication, so that every caller is anonymous; expected names such as PASSWORD";
    reader.warn(`${prefix}order`, expected);
  }
  const authenticators = await readKinds(reader, {
    prefix,
    order: keys?.order,
    common: METHOD,
    list: kinds.authenticators,
  });
  const ofKinds = await withKinds(authenticators, kinds.authenticators);
  checkTokens(reader, ofKinds);
  if (keys === undefined) return undefined;
  for (const server of servers) checkLogins(reader, server, keys.order, ofKinds);
  const { order: _, ...rest } = keys;
  return { authentication: { ...rest, authenticators } };
}

/** Warns if a provider would receive another's tokens, with which it could impersonate users. */
function checkTokens(
  reader: KeyReader,
  authenticators: readonly OfKind[],
): void {
  const receivers = authenticators.flatMap(({ config, kind }) => {
    const tokens = kind.sentTokens?.(config);
    return tokens === undefined ? [] : [{ name: config.name, tokens }];
  });
  for (const receiver of receivers) {
    const sees = receiver.tokens === "all"
      ? ["all", "opaque", "own"]
      : receiver.tokens === "opaque"
      ? ["all", "opaque"]
      : [];
    const other = receivers.find((other) => other !== receiver && sees.includes(other.tokens));
    if (other === undefined) continue;
    const expected =
      `${receiver.name} is shown tokens that are for ${other.name}, expected an issuer for each, and opaqueTokens for one at most`;
    return reader.warn(`${AUTHENTICATION.prefix}order`, expected);
  }
}

/** Checks that a server's required authenticators exist and provide what it requires. */
function checkLogins(
  reader: KeyReader,
  { name, logins }: LogicalServerConfig,
  order: readonly string[],
  authenticators: readonly OfKind[],
): void {
  const prefix = `authservice.server.${name}.`;
  const written = logins.methods.join(" ");
  const unknown = logins.methods.filter((authenticator) => !order.includes(authenticator));
  if (unknown.length > 0) {
    const expected = `expected methods out of ${order.join(" ")}, not ${unknown.join(" ")}`;
    reader.error(`${prefix}methods`, expected, written);
  }
  if (logins.requiredAcr.length === 0) return;
  const named = authenticators.filter(({ config }) =>
    logins.methods.length === 0 || logins.methods.includes(config.name)
  );
  const silent = named.filter(({ kind }) => kind.providesAcr !== true);
  if (silent.length > 0 && (logins.methods.length > 0 || silent.length === named.length)) {
    const expected = `no login by ${silent.map(({ config }) => config.name).join(", ")} meets it: ` +
      "expected methods that report the authentication context class (acr)";
    reader.warn(`${prefix}requiredAcr`, expected, logins.requiredAcr.join(" "));
  }
}

/** Reads the destinations of notifications: each is configured if a key with its prefix is present. */
export async function readNotifications(
  reader: KeyReader,
  { kinds, sharing }: Known,
): Promise<Parts | undefined> {
  const notifications: KindConfig[] = [];
  for (const { classes, prefix = "", load } of kinds.destinations.kinds) {
    const [name = ""] = Object.keys(classes);
    const first = reader.firstBelow(prefix);
    if (first === undefined) continue;
    const { title, keys, read } = await load();
    const section: Section = { prefix, title, keys };
    const values = reader.read(section);
    const members = () => Promise.resolve([]);
    const config = values && await read(values, { reader, name, prefix, members });
    if (config === undefined) return undefined;
    notifications.push({ ...config, kind: name, name });
    if (sharing !== undefined && sharing.directory === undefined && sharing.database === undefined) {
      reader.error(first.key, "expected persistence.directory too, where notifications wait");
    }
  }
  return { notifications };
}
