import type { Table } from "./key.ts";

/** Keys that begin alike. The configuration is read, and its reference manual made, from these. */
export interface Section<T extends Table = Table> {
  /** With final dot; parts such as `<server>` stand for names that the operator chooses. */
  readonly prefix: string;
  readonly title: string;
  readonly keys: T;
  /**
   * Keys of the Java service that are accepted without effect, and why; the reason follows `ignored: `.
   * A final `*` stands for any rest.
   */
  readonly ignored?: Readonly<Record<string, string>>;
  /** What an unknown key is. */
  readonly unknown: "error" | "warning";
  /** Names that the Java service knows in sections like this one: an unknown key of such a name is a warning, unless it is mistyped. */
  readonly elsewhere?: ReadonlySet<string>;
  /** Whether upper and lower case in a key make no difference. */
  readonly anyCase?: boolean;
}

/** Gives a table its place; the type of the table is kept. */
export function section<const T extends Table>(described: Section<T>): Section<T> {
  return described;
}
