import type { Table } from "./key.ts";

/** Keys with a common prefix, for reading and for the manual. */
export interface Section<T extends Table = Table> {
  readonly prefix: string; // with final dot; `<server>` stands for names
  readonly title: string;
  readonly keys: T;
  /** Keys of the Java service without effect, with the reason after `ignored: `. A final `*` matches any rest. */
  readonly ignored?: Readonly<Record<string, string>>;
  readonly unknown: "error" | "warning"; // severity of unknown keys
  /** Returns Java key names, in lower case, for which an unknown key is only a warning. */
  readonly elsewhere?: () => Promise<ReadonlySet<string>>;
  readonly anyCase?: boolean; // whether keys are case-insensitive
}

/** Declares a section and keeps its type. */
export function section<const T extends Table>(described: Section<T>): Section<T> {
  return described;
}
