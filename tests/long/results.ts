/** Results of tests for the tables in `docs/reliability.md`. */

/** Effects of a fault. */
export interface FaultRow {
  /** Part that failed: a heading of the page. */
  readonly section: string;
  readonly fault: string;
  /** Effect that callers saw. */
  readonly caller: string;
  /** Messages for operators in the log. */
  readonly log: string;
  /** Effect on everything else, and recovery. */
  readonly after: string;
}

/** Results of a parser for damaged texts. */
export interface ParserRow {
  readonly parser: string;
  readonly cases: number;
  /** Cases that ended in a documented error of the parser; absent if the test does not count them. */
  readonly refused?: number | undefined;
  /** Longest time of a case, in milliseconds; the shorter of two attempts. */
  readonly longestMs: number;
  /** Growth of the memory in use from a quarter of the cases to all of them, in bytes. */
  readonly growth: number;
  readonly seconds: number;
}

/** Outcome of a repeated trial. */
export interface TrialRow {
  readonly trial: string;
  /** Actions and their number. */
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

/** Latest results of each table, with the runs that produced them. */
export type Kept = {
  readonly [Table in keyof Results]: {
    /** Day of the run, as `YYYY-MM-DD`. */
    readonly day: string;
    readonly seconds: number;
    /** Day of the last run for single rows. */
    readonly again?: string;
    readonly rows: readonly Results[Table][];
  };
};

/** Whether this run is the long one: `deno task test:long` sets it. */
export const LONG = Deno.env.get("AUTHSERVER_LONG_TESTS") !== undefined;

/** Folder for rows, one file per row; absent in normal tests. */
const FOLDER = Deno.env.get("AUTHSERVER_RESULTS");

/** Writes a row, if results are collected. */
export function note<Table extends keyof Results>(table: Table, row: Results[Table]): void {
  if (FOLDER === undefined) return;
  Deno.writeTextFileSync(`${FOLDER}/${table}-${crypto.randomUUID()}.json`, JSON.stringify(row));
}
