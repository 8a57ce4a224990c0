import type { Table } from "./key.ts";

/** Keys with a common prefix, for reading and for the manual. */
export interface Section<T extends Table = Table> {
  /** With final dot; `<server>` stands for names. */
  readonly prefix: string;
  readonly title: string;
  readonly keys: T;
  /** Keys of the Java service without effect, with the reason after `ignored: `. A final `*` matches any rest. */
  readonly ignored?: Readonly<Record<string, string>>;
  /** Severity of unknown keys. */
  readonly unknown: "error" | "warning";
  /** Java key names for which an unknown key is only a warning. */
  readonly elsewhere?: ReadonlySet<string>;
  /** Whether keys are case-insensitive. */
  readonly anyCase?: boolean;
}

/** Declares a section and keeps its type. */
export function section<const T extends Table>(described: Section<T>): Section<T> {
  return described;
}
