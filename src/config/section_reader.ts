import type { KeyReader } from "./key_reader.ts";
import type { Kinds } from "./kind.ts";
import type { ServiceConfig } from "./service_config.ts";

/** What sections of the file became, as far as they are in order, with what is of use to other sections alone. */
export type Parts = Partial<ServiceConfig> & {
  /** Whether the service itself speaks HTTPS. */
  readonly tls?: boolean;
  /** All logical servers that are named, those with errors too. */
  readonly serverNames?: readonly string[];
};

/** What a section may need besides its keys: sections read before it, and what stands in no file. */
export type Known = Parts & {
  readonly kinds: Kinds;
  /** Name of this machine. */
  readonly hostName: () => string;
};

/** Reads one section or some that belong together; `undefined`, and problems, if something in them is wrong. */
export type SectionReader = (
  reader: KeyReader,
  known: Known,
) => Parts | undefined | Promise<Parts | undefined>;
