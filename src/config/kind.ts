import type { Diagnostic } from "../model/diagnostic.ts";
import type { Infer, Table } from "./key.ts";
import type { KeyReader } from "./key_reader.ts";
import type { KindConfig } from "./kind_config.ts";

/** Place of an authenticator or source in the configuration. */
export interface Place {
  readonly reader: KeyReader;
  readonly name: string;
  readonly prefix: string; // with final dot
  /** Reads its members; `key` contains their names. */
  members(order: readonly string[], key: string): Promise<readonly KindConfig[]>;
}

/** Remote system. */
export interface Remote {
  readonly address: string;
  readonly shownAs: string; // name on status pages, such as `Unity`
  readonly showCertificate?: boolean; // whether it gets the server's certificate; absent: general setting
}

/** Name in an attribute file. */
export interface WrittenName {
  readonly key: string;
  readonly file: string;
  readonly line: number;
}

/** User in a file. */
export interface KnownUser {
  readonly dn: string;
  readonly login?: string; // present for a password login
  readonly file: string;
}

/** Result of inspecting files. */
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

/**
 * Kind of authenticator or attribute source. Other code iterates over kinds and names none; each function receives only
 * configurations of its kind.
 * @typeParam T Table of its keys.
 * @typeParam S Result of reading them.
 */
export interface Kind<T extends Table = Table, S extends object = object> {
  readonly title: string; // in the manual
  readonly classes: Readonly<Record<string, ClassUse>>; // simple names of Java classes
  readonly keys: T;
  readonly ignored?: Readonly<Record<string, string>>;
  /** Checks the values and reports diagnostics to the reader. */
  read(values: Infer<T>, place: Place): S | undefined | Promise<S | undefined>;
  /** Whether it needs client certificates. */
  looksAtCertificates?(config: S & KindConfig): boolean;
  /** Files in use, absolute. */
  files?(config: S & KindConfig): readonly string[];
  /** Systems in use. */
  remotes?(config: S & KindConfig): readonly Remote[];
  /** Bearer tokens it forwards: all, its issuer's and opaque ones, its issuer's only; absent: none. */
  takesTokens?(config: S & KindConfig): "all" | "opaque" | "own" | undefined;
  readonly tellsAcr?: true; // whether it provides `acr`
  members?(config: S & KindConfig): readonly KindConfig[];
  /**
   * Inspects its configuration and files for the operator.
   * @param around.servers Logical servers, if known.
   * @param around.alone Whether it would be the only source.
   */
  inspect?(
    config: S & KindConfig,
    around: { readonly servers: readonly string[] | undefined; readonly alone: boolean },
  ): Promise<KindInspection>;
}

/** Configuration that a kind reads. */
export type ConfigRead<F extends (...given: never[]) => unknown> =
  & NonNullable<Awaited<ReturnType<F>>>
  & KindConfig;

/** List of kinds. */
export interface KindList<K extends Kind = Kind> {
  readonly sort: string; // such as `method`, for messages
  readonly kinds: readonly K[];
  /** Unsupported Java classes: implied names, and the alternative. */
  readonly refused: Readonly<
    Record<string, { readonly names?: readonly string[]; readonly expected: string }>
  >;
}

/** All lists of kinds. */
export interface Kinds<M extends Kind = Kind, A extends Kind = Kind> {
  readonly authenticators: KindList<M>;
  readonly sources: KindList<A>;
}

/** Configuration with its kind. */
export interface OfKind<K extends Kind = Kind> {
  readonly sort: string;
  readonly config: KindConfig;
  readonly kind: K;
}

/** Returns a configuration's kind. @throws {TypeError} If it is not in the list. */
export function kindOf<K extends Kind>(config: KindConfig, { kinds }: KindList<K>): K {
  const kind = kinds.find(({ classes }) => Object.hasOwn(classes, config.kind));
  if (kind === undefined) throw new TypeError(`no kind answers to ${config.kind}`);
  return kind;
}

/** Returns configurations with kinds in order, each followed by its members. */
export function withKinds<K extends Kind>(configs: readonly KindConfig[], list: KindList<K>): OfKind<K>[] {
  return configs.flatMap((config) => {
    const kind = kindOf(config, list);
    return [{ sort: list.sort, config, kind }, ...withKinds(kind.members?.(config) ?? [], list)];
  });
}
