import { didYouMean } from "./did_you_mean.ts";
import type { KeyReader } from "./key_reader.ts";
import {
  ATTRIBUTES,
  AUTOMATIC_SOURCE,
  DYNAMIC_ATTRIBUTES,
  FILE_SOURCE,
  NESTED_CHAIN,
  SOURCE,
  XUUDB_SOURCE,
} from "./keys/attribute_keys.ts";
import type { AttributesConfig, AttributeSourceConfig } from "./service_config.ts";

/** Class of a source that is named so and has none configured (rest-api.md 3.8). */
const DEFAULT_CLASSES: ReadonlyMap<string, string> = new Map([
  ["FILE", "FileAttributeSource"],
  ["XUUDB", "XUUDBAttributeSource"],
  ["PAM", "PAMAttributeSource"],
  ["SAML", "SAMLAttributeSource"],
  ["GRIDMAP-FILE", "GridMapFileAttributeSource"],
  ["LDAP", "LDAPAttributeSource"],
]);

/** Classes of the Java service that are not supported here. */
const REFUSED_CLASSES: ReadonlyMap<string, string> = new Map([
  ["SAMLAttributeSource", "SAML attribute queries are"],
  ["GridMapFileAttributeSource", "grid map files are"],
  ["GridMapFileAuthoriser", "grid map files are"],
  ["LDAPAttributeSource", "LDAP is"],
  ["XUUDBDynamicAttributeSource", "the dynamic XUUDB is"],
]);

type SourceReader = (chain: ChainReader, name: string, prefix: string) => AttributeSourceConfig | undefined;

const SOURCE_READERS: ReadonlyMap<string, SourceReader> = new Map<string, SourceReader>([
  ["FileAttributeSource", readFileSource],
  ["XUUDBAttributeSource", (...where) => readXuudb("XUUDBAttributeSource", ...where)],
  ["XUUDBAuthoriser", (...where) => readXuudb("XUUDBAttributeSource", ...where)],
  ["XUUDBJSONAttributeSource", (...where) => readXuudb("XUUDBJSONAttributeSource", ...where)],
  ["AuthAttributesCollector", readAutomatic],
  ["PAMAttributeSource", readAutomatic],
  ["AttributeSourcesChain", readNestedChain],
]);

/** The attribute sources, in order (authentication.md 7.3). */
export function readAttributes(reader: KeyReader): AttributesConfig | undefined {
  return new ChainReader(reader, ATTRIBUTES.prefix).readAll(ATTRIBUTES);
}

/** The sources asked last, whose account and groups always win. */
export function readDynamicAttributes(reader: KeyReader): AttributesConfig | undefined {
  return new ChainReader(reader, DYNAMIC_ATTRIBUTES.prefix).readAll(DYNAMIC_ATTRIBUTES);
}

class ChainReader {
  /** Names of sources that were read: in the order, or in that of a nested chain. */
  readonly #used = new Set<string>();
  /** Nested chains around the source that is being read. */
  readonly #open: string[] = [];

  constructor(readonly reader: KeyReader, readonly prefix: string) {}

  readAll(section: typeof ATTRIBUTES): AttributesConfig | undefined {
    const { reader, prefix } = this;
    const keys = reader.read(section);
    if (keys === undefined) {
      for (const name of reader.namesBelow(prefix)) reader.skip(`${prefix}${name}.`);
      return undefined;
    }
    const sources = this.sources(keys.order, `${prefix}order`);
    for (const name of reader.namesBelow(prefix)) {
      if (!this.#used.has(name)) {
        reader.leave(`${prefix}${name}.`, `not used, ${name} is not in ${prefix}order`);
      }
    }
    return { sources, policy: keys.policy };
  }

  sources(order: readonly string[], orderKey: string): AttributeSourceConfig[] {
    const sources: AttributeSourceConfig[] = [];
    for (const name of order) {
      const source = this.#source(name, orderKey);
      if (source !== undefined) sources.push(source);
    }
    return sources;
  }

  #source(name: string, orderKey: string): AttributeSourceConfig | undefined {
    const { reader } = this;
    const prefix = `${this.prefix}${name}.`;
    this.#used.add(name);
    if (this.#open.includes(name)) {
      reader.error(
        orderKey,
        `expected a chain that does not contain itself: ${[...this.#open, name].join(" > ")}`,
      );
      return undefined;
    }
    const source = reader.read(SOURCE, prefix);
    if (source === undefined) {
      reader.skip(prefix);
      return undefined;
    }
    const configured = source.class;
    const className = configured ?? DEFAULT_CLASSES.get(name);
    const readParameters = SOURCE_READERS.get(className ?? "");
    if (readParameters === undefined) {
      const key = configured === undefined ? orderKey : `${prefix}class`;
      reader.error(
        key,
        className === undefined ? unnamed(name, prefix) : unknownClass(className),
        configured,
      );
      reader.skip(prefix);
      return undefined;
    }
    this.#open.push(name);
    const complete = readParameters(this, name, prefix);
    this.#open.pop();
    return complete;
  }
}

function unnamed(name: string, prefix: string): string {
  const guess = didYouMean(name, DEFAULT_CLASSES.keys());
  const hint = guess === undefined ? "" : `, did you mean ${guess}?`;
  return `expected ${prefix}class too, since ${name} has no default class${hint}`;
}

function unknownClass(className: string): string {
  const refused = REFUSED_CLASSES.get(className);
  if (refused !== undefined) {
    return `${refused} not supported, expected a map file (FileAttributeSource) or an XUUDB`;
  }
  const guess = didYouMean(className, SOURCE_READERS.keys());
  const hint = guess === undefined ? "" : `, did you mean ${guess}?`;
  return `expected one of the classes ${[...SOURCE_READERS.keys()].join(", ")}${hint}`;
}

function readFileSource(
  { reader }: ChainReader,
  name: string,
  prefix: string,
): AttributeSourceConfig | undefined {
  const keys = reader.read(FILE_SOURCE, prefix);
  if (keys === undefined) return undefined;
  const { file, matching, format = "auto", optional } = keys;
  reader.expectFile(`${prefix}file`, file);
  return { kind: "FileAttributeSource", name, optional, file, matching, format };
}

function readXuudb(
  kind: "XUUDBAttributeSource" | "XUUDBJSONAttributeSource",
  { reader }: ChainReader,
  name: string,
  prefix: string,
): AttributeSourceConfig | undefined {
  const keys = reader.read(XUUDB_SOURCE, prefix);
  if (keys === undefined) return undefined;
  const { host, port, gcid, cache, optional } = keys;
  const { hostname, port: portInHost, pathname, search } = new URL(host);
  if (portInHost !== "" || pathname !== "/" || search !== "") {
    reader.error(`${prefix}xuudbHost`, "expected https:// and a host, the port is in xuudbPort", host);
  }
  return { kind, name, optional, address: `https://${hostname}:${port}`, gcid, cache };
}

function readAutomatic(
  { reader }: ChainReader,
  name: string,
  prefix: string,
): AttributeSourceConfig | undefined {
  return reader.read(AUTOMATIC_SOURCE, prefix) && { kind: "AuthAttributesCollector", name };
}

function readNestedChain(
  chain: ChainReader,
  name: string,
  prefix: string,
): AttributeSourceConfig | undefined {
  const keys = chain.reader.read(NESTED_CHAIN, prefix);
  if (keys === undefined) return undefined;
  const { order, policy, optional } = keys;
  return {
    kind: "AttributeSourcesChain",
    name,
    optional,
    sources: chain.sources(order, `${prefix}order`),
    policy,
  };
}
