/** What tests found out, beyond having passed: rows of the tables in `docs/reliability.md`. */

/** What happened under a fault. */
export interface FaultRow {
  /** Whose fault it was: a heading of the page. */
  readonly section: string;
  readonly fault: string;
  /** What callers saw. */
  readonly caller: string;
  /** What operators could read in the log. */
  readonly log: string;
  /** What became of everything else, and how it went on. */
  readonly after: string;
}

/** What a parser made of texts that were nearly right. */
export interface ParserRow {
  readonly parser: string;
  readonly cases: number;
  /** Cases that ended in an error the parser promises; absent where that is not counted. */
  readonly refused?: number | undefined;
  /** Time of the case that took longest, in milliseconds; of two tries the shorter. */
  readonly longestMs: number;
  /** By how much the memory in use differed between a quarter of the cases and all of them, in bytes. */
  readonly growth: number;
  readonly seconds: number;
}

/** How something ended that was tried again and again. */
export interface TrialRow {
  readonly trial: string;
  /** What was done, and how often. */
  readonly done: string;
  readonly outcome: string;
}

/** The tables by name, with their rows. */
export interface Results {
  readonly faults: FaultRow;
  readonly parsers: ParserRow;
  readonly trials: TrialRow;
  readonly instances: TrialRow;
}

/** The latest results of each table, and how they came about. */
export type Kept = {
  readonly [Table in keyof Results]: {
    /** Day of the run, as `YYYY-MM-DD`. */
    readonly day: string;
    readonly seconds: number;
    /** Day on which single rows were tried again last. */
    readonly again?: string;
    readonly rows: readonly Results[Table][];
  };
};

/** Whether this run is the long one: `deno task test:long` sets it. */
export const LONG = Deno.env.get("AUTHSERVER_LONG_TESTS") !== undefined;

/** Folder that rows are written to, one file each; absent in normal tests. */
const FOLDER = Deno.env.get("AUTHSERVER_RESULTS");

/** Notes a row, if results are collected. */
export function note<Table extends keyof Results>(table: Table, row: Results[Table]): void {
  if (FOLDER === undefined) return;
  Deno.writeTextFileSync(`${FOLDER}/${table}-${crypto.randomUUID()}.json`, JSON.stringify(row));
}
