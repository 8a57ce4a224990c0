import type { Diagnostic } from "../model/diagnostic.ts";
import type { Infer, Section, Table } from "./key.ts";
import type { KeyReader } from "./key_reader.ts";
import type { AssignmentsConfig } from "./read_assignments.ts";
import type { KindConfig } from "./service_config.ts";
import { addressInRange, canonicalAddress } from "../model/address.ts";

/** Place of an authenticator or source in the configuration. */
export interface Place {
  readonly reader: KeyReader;
  readonly name: string;
  readonly prefix: string; // with final dot
  members(order: readonly string[], key: string): Promise<readonly KindConfig[]>;
}

export interface Remote {
  readonly address: string; // URL
  readonly defaultPort?: number; // port of an address without one; only `http` and `https` need none
  readonly label: string; // name on status pages, such as `Unity`
  readonly showCertificate?: boolean; // whether it gets the server's certificate; absent: general setting
  readonly plain?: boolean; // whether connections are not encrypted, as with `http:`
  anchors?(): Promise<readonly string[] | undefined>; // PEM, in place of the truststore
  /** Exchanges plain text before the TLS handshake, such as StartTLS; absent: TLS begins at once. */
  beforeTls?(connection: Deno.Conn): Promise<void>;
}

const HTTP_PORTS: ReadonlyMap<string, number> = new Map([["http:", 80], ["https:", 443]]);

/** Returns where to connect to. @throws {TypeError} If neither address nor kind names a port. */
export function endpointOf(
  { address, defaultPort }: Pick<Remote, "address" | "defaultPort">,
): { readonly host: string; readonly port: number } {
  const { hostname, port, protocol } = new URL(address);
  const found = port === "" ? defaultPort ?? HTTP_PORTS.get(protocol) : Number(port);
  if (found === undefined) throw new TypeError(`no port is known for ${protocol}`);
  return { host: hostname.replace(/^\[|\]$/g, ""), port: found };
}

/** Name in an attribute file, with the place of its entry. */
export interface WrittenName {
  readonly key: string;
  readonly file: string;
  readonly line: number; // from 1
}

export interface KnownUser {
  readonly dn: string;
  readonly login?: string; // present for a password login
  readonly file: string;
}

export interface KindInspection {
  readonly diagnostics: readonly Diagnostic[];
  readonly users?: readonly KnownUser[];
  readonly written?: readonly WrittenName[]; // names with entries
  /** Reports whether an entry matches a canonical DN; absent without readable entries. */
  readonly matches?: (name: string) => boolean;
}

/** Relation of a Java class to a kind. */
export interface ClassUse {
  readonly names?: readonly string[]; // names that imply this class
  readonly as?: string; // equivalent class that replaces it
}

/** Kind of authenticator or attribute source. Other code iterates over kinds and names none. */
export interface Kind<T extends Table = Table, S extends object = object>
  extends Pick<Section<T>, "title" | "keys" | "added" | "ignored"> {
  read(values: Infer<T>, place: Place): S | undefined | Promise<S | undefined>;
  usesCertificates?(config: S & KindConfig): boolean;
  files?(config: S & KindConfig): readonly string[];
  remotes?(config: S & KindConfig): readonly Remote[];
  /** Bearer tokens it forwards: all, its issuer's and opaque ones, its issuer's only; absent: none. */
  sentTokens?(config: S & KindConfig): "all" | "opaque" | "own" | undefined;
  readonly providesAcr?: true; // whether it provides `acr`
  /** Names for users of its login methods, by `Identity.method`. */
  readonly methods?: Readonly<Record<string, string>>;
  members?(config: S & KindConfig): readonly KindConfig[];
  /** Inspects configuration and files for the operator. @param around.alone Whether it would be the only source. */
  inspect?(
    config: S & KindConfig,
    around: {
      readonly servers: readonly string[] | undefined;
      readonly alone: boolean;
      readonly inspectExpressions: (config: AssignmentsConfig) => Promise<readonly Diagnostic[]>;
    },
  ): Promise<KindInspection>;
}

export type ConfigRead<F extends (...given: never[]) => unknown> =
  & NonNullable<Awaited<ReturnType<F>>>
  & KindConfig;

/** Line of a list of kinds: the classes of a kind, and its descriptor, which is loaded only if needed. */
export interface KindEntry<K extends Kind = Kind> {
  readonly classes: Readonly<Record<string, ClassUse>>; // simple names of Java classes
  readonly prefix?: string; // of its keys, with final dot, if it is configured at most once
  load(): Promise<K>;
}

export interface KindList<K extends Kind = Kind> {
  readonly sort: string; // such as `method`, for messages
  readonly kinds: readonly KindEntry<K>[];
  /** Unsupported Java classes: implied names, and the alternative. */
  readonly refused: Readonly<
    Record<string, { readonly names?: readonly string[]; readonly expected: string }>
  >;
}

export interface Kinds<M extends Kind = Kind, A extends Kind = Kind, D extends Kind = Kind> {
  readonly authenticators: KindList<M>;
  readonly sources: KindList<A>;
  readonly destinations: KindList<D>;
}

export interface OfKind<K extends Kind = Kind> {
  readonly sort: string;
  readonly config: KindConfig;
  readonly kind: K;
}

/** Returns a configuration's kind. @throws {TypeError} If it is not in the list. */
export async function kindOf<K extends Kind>(config: KindConfig, { kinds }: KindList<K>): Promise<K> {
  const entry = kinds.find(({ classes }) => Object.hasOwn(classes, config.kind));
  if (entry === undefined) throw new TypeError(`no kind answers to ${config.kind}`);
  return await entry.load();
}

/** Returns configurations with kinds in order, each followed by its members. */
export async function withKinds<K extends Kind>(
  configs: readonly KindConfig[],
  list: KindList<K>,
): Promise<readonly OfKind<K>[]> {
  const found = configs.map(async (config) => {
    const kind = await kindOf(config, list);
    return [{ sort: list.sort, config, kind }, ...await withKinds(kind.members?.(config) ?? [], list)];
  });
  return (await Promise.all(found)).flat();
}

/** Loads every kind of a list, in order. */
export function allKinds<K extends Kind>({ kinds }: KindList<K>): Promise<readonly K[]> {
  return Promise.all(kinds.map((entry) => entry.load()));
}

/** Opens everything configured. @throws The error of one, or `AggregateError`; the others are closed. */
export async function openAll<T extends { close(): void }>(
  configs: readonly KindConfig[],
  open: (config: KindConfig) => Promise<T>,
): Promise<T[]> {
  const made = await Promise.allSettled(configs.map(open));
  const failures = made.flatMap((result) => result.status === "rejected" ? [result.reason] : []);
  const opened = made.flatMap((result) => result.status === "fulfilled" ? [result.value] : []);
  if (failures.length === 0) return opened;
  opened.forEach((each) => each.close());
  throw failures.length === 1 ? failures[0] : new AggregateError(failures, "several methods cannot start");
}

/** Requires `https://` for credentials, unless the host is local or `allowPlainHttp` is set beside `key`. */
export function requireHttps(
  { reader, prefix }: Pick<Place, "reader" | "prefix">,
  key: string,
  address: string,
  permitted: boolean,
): void {
  if (URL.parse(address)?.protocol !== "http:") return;
  if (isLocalHost(new URL(address).hostname)) {
    reader.warn(prefix + key, "not encrypted; acceptable only on this machine", address);
  } else if (permitted) {
    const expected =
      "anyone on the network path can read passwords and tokens, and can impersonate the server";
    reader.warn(prefix + key, expected, address);
  } else {
    const expected = `expected https://, or ${prefix}allowPlainHttp=true to send secrets unencrypted`;
    reader.error(prefix + key, expected, address);
  }
}

/** Reports whether a host is this machine, without a lookup. */
export function isLocalHost(hostname: string): boolean {
  const host = hostname.replace(/^\[|\]$/g, "").toLowerCase();
  const address = canonicalAddress(host);
  return host === "localhost" ||
    (address !== undefined && (address === "::1" || addressInRange(address, "127.0.0.0/8")));
}
