import { DatabaseAway, DatabaseFailure } from "../database.ts";

/** What driver, server or system say of a statement or a connection that failed. */
export class PostgresError extends Error {
  override readonly name = "PostgresError";
  /** Of the server (appendix A of its manual), the driver or the system; empty if it has none. */
  readonly code: string;

  constructor(error: unknown) {
    super(error instanceof Error ? error.message : String(error), { cause: error });
    this.code = error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : "";
  }
}

/**
 * What a failed statement means. `again`: certainly nothing happened, and another try may go better. `lost`: the connection
 * is of no use any more; a change that was about to be kept may have been. `refused`: it will not go.
 */
type Meaning = "again" | "lost" | "refused";

/** Two who wait for each other. */
const AGAIN: ReadonlySet<string> = new Set(["40001", "40P01"]);

/** The server ends, begins, has no room, takes no changes (any more), ended the session. */
const LOST = /^(?:57P0\d|53300|25006|25P0[34]|08\w{3})$/;

/** Codes of the server; those of the driver and of the system have other characters, or more. */
const OF_SERVER = /^[0-9][0-9A-Z]{4}$|^[A-Z][0-9][0-9A-Z]{3}$/;

/** What an error means for what was under way. */
export function meaningOf({ code, message }: PostgresError): Meaning {
  if (AGAIN.has(code)) return "again";
  if (code === "0A000" && message.includes("cached plan")) return "lost"; // the schema changed under the connection
  return LOST.test(code) || !OF_SERVER.test(code) ? "lost" : "refused";
}

/** No room, no time, ended by somebody, the system's own: for these no statement is to blame. */
const OF_CIRCUMSTANCES = /^(?:5[3578]|XX)/;

/** Whether a statement failed for what it says: an error of the service, or of its rights. */
export function isDefect(error: PostgresError): boolean {
  return meaningOf(error) === "refused" && !OF_CIRCUMSTANCES.test(error.code);
}

/** What callers get of an error: their own as it is, one of the database as such. */
export function toFailure(error: unknown): unknown {
  if (!(error instanceof PostgresError)) return error;
  const Kind = meaningOf(error) === "refused" ? DatabaseFailure : DatabaseAway;
  return new Kind(error.message, { cause: error });
}
