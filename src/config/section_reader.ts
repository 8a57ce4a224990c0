import type { Infer, Section, Table } from "./key.ts";
import type { KeyReader } from "./key_reader.ts";
import type { Kinds } from "./kind.ts";
import type { ServiceConfig } from "./service_config.ts";

/** Valid sections, and facts for other sections. */
export type Parts = Partial<ServiceConfig> & {
  readonly tls?: boolean;
  readonly serverNames?: readonly string[]; // logical servers, even invalid ones
};

/** Earlier sections and the environment. */
export type Known = Parts & {
  readonly kinds: Kinds;
  readonly hostName: () => string;
};

/** Reads sections; `undefined` with diagnostics if invalid. */
export type SectionReader = (
  reader: KeyReader,
  known: Known,
) => Parts | undefined | Promise<Parts | undefined>;

/** Declares the reader of one section. @param make Checks and completes its values. */
export function readerOf<T extends Table>(
  section: Section<T>,
  make: (keys: Infer<T>, reader: KeyReader, known: Known) => ReturnType<SectionReader>,
): SectionReader {
  return (reader, known) => {
    const keys = reader.read(section);
    return keys && make(keys, reader, known);
  };
}
