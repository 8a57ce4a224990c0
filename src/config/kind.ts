import type { Diagnostic } from "../model/diagnostic.ts";
import type { Infer, Table } from "./key.ts";
import type { KeyReader } from "./key_reader.ts";
import type { KindConfig } from "./kind_config.ts";

/** Where one method or source stands in the configuration. */
export interface Place {
  readonly reader: KeyReader;
  readonly name: string;
  /** Of its keys, with final dot. */
  readonly prefix: string;
  /** Reads others of the same sort, which belong to this one; `key` holds their names. */
  members(order: readonly string[], key: string): Promise<readonly KindConfig[]>;
}

/** A system on the network that must be reached. */
export interface Remote {
  /** An absolute URL. */
  readonly address: string;
  /** What such a system is called on status pages, such as `Unity`. */
  readonly shownAs: string;
  /** Whether the own certificate is shown to it; absent: as for other systems in general. */
  readonly showCertificate?: boolean;
}

/** A name as it is written in a file of attributes. */
export interface WrittenName {
  readonly key: string;
  readonly file: string;
  readonly line: number;
}

/** Whom a file names. */
export interface KnownUser {
  readonly dn: string;
  /** Present if they log in by a password. */
  readonly login?: string;
  readonly file: string;
}

/** What a look through the files of one method or source found. */
export interface KindInspection {
  readonly diagnostics: readonly Diagnostic[];
  readonly users?: readonly KnownUser[];
  /** Names of users that it has entries for. */
  readonly written?: readonly WrittenName[];
  /** Whether an entry is about somebody; absent without entries that can be read. @param name In canonical DN. */
  readonly matches?: (name: string) => boolean;
}

/** What a class of the Java service is to a kind. */
export interface ClassUse {
  /** Names that stand for this class where none is configured. */
  readonly names?: readonly string[];
  /** Another class of the kind that does the same and stands in the configuration in its place. */
  readonly as?: string;
}

/**
 * All that others know of one kind of authenticator or attribute source: they walk over the list of kinds, and know none
 * by name. Each function gets only configurations that this very kind has read.
 * @typeParam T Table of its keys.
 * @typeParam S What it makes of their values.
 */
export interface Kind<T extends Table = Table, S extends object = object> {
  /** Heading in the reference manual. */
  readonly title: string;
  /** Simple names of the Java classes that it answers to. */
  readonly classes: Readonly<Record<string, ClassUse>>;
  readonly keys: T;
  /** As in a section of keys. */
  readonly ignored?: Readonly<Record<string, string>>;
  /** Completes and checks the values; what is wrong with them goes to the reader. */
  read(values: Infer<T>, place: Place): S | undefined | Promise<S | undefined>;
  /** Whether clients are asked for a certificate because of it. */
  looksAtCertificates?(config: S & KindConfig): boolean;
  /** Files that it reads while it runs, absolute. */
  files?(config: S & KindConfig): readonly string[];
  /** Systems that it asks while it runs. */
  remotes?(config: S & KindConfig): readonly Remote[];
  /** Which bearer tokens it shows to its system: all, its issuer's and opaque ones, or its issuer's; absent: none. */
  takesTokens?(config: S & KindConfig): "all" | "opaque" | "own" | undefined;
  /** Whether what it says of users can tell by what class of login they got in (`acr`). */
  readonly tellsAcr?: true;
  /** Others of the same sort that it is made of. */
  members?(config: S & KindConfig): readonly KindConfig[];
  /**
   * Looks for an operator through what the configuration says and names.
   * @param around.servers Names of the logical servers, if known.
   * @param around.alone Whether one source would be all that says what users are.
   */
  inspect?(
    config: S & KindConfig,
    around: { readonly servers: readonly string[] | undefined; readonly alone: boolean },
  ): Promise<KindInspection>;
}

/** The configuration that a function of a kind reads. */
export type ConfigRead<F extends (...given: never[]) => unknown> =
  & NonNullable<Awaited<ReturnType<F>>>
  & KindConfig;

/** Every kind of one sort. */
export interface KindList<K extends Kind = Kind> {
  /** What one of them is called in messages, such as `method`. */
  readonly sort: string;
  readonly kinds: readonly K[];
  /** Classes of the Java service that are not supported: names that stand for them, and what is expected instead. */
  readonly refused: Readonly<
    Record<string, { readonly names?: readonly string[]; readonly expected: string }>
  >;
}

/** Every kind of everything that there are kinds of. */
export interface Kinds<M extends Kind = Kind, A extends Kind = Kind> {
  /** Of methods of authentication. */
  readonly authenticators: KindList<M>;
  /** Of attribute sources. */
  readonly sources: KindList<A>;
}

/** What was configured, with its kind. */
export interface OfKind<K extends Kind = Kind> {
  readonly sort: string;
  readonly config: KindConfig;
  readonly kind: K;
}

/**
 * The kind that has read a configuration.
 * @throws {TypeError} If it is not in the list.
 */
export function kindOf<K extends Kind>(config: KindConfig, { kinds }: KindList<K>): K {
  const kind = kinds.find(({ classes }) => Object.hasOwn(classes, config.kind));
  if (kind === undefined) throw new TypeError(`no kind answers to ${config.kind}`);
  return kind;
}

/** Everything configured of one sort with its kind, in order; what it is made of follows. */
export function withKinds<K extends Kind>(configs: readonly KindConfig[], list: KindList<K>): OfKind<K>[] {
  return configs.flatMap((config) => {
    const kind = kindOf(config, list);
    return [{ sort: list.sort, config, kind }, ...withKinds(kind.members?.(config) ?? [], list)];
  });
}
