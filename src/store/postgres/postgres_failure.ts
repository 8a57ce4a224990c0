import { DatabaseFailure, DatabaseUnavailable } from "../database.ts";
import { messageOf } from "../../model/text.ts";

/** Error of driver, server or system. */
export class PostgresError extends Error {
  readonly code: string; // SQLSTATE, or code of driver or system; may be empty

  constructor(error: unknown) {
    super(messageOf(error), { cause: error });
    this.code = error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : "";
  }
}

/** Consequence of a failure. `again`: no effect; `lost`: connection closed, maybe committed; `refused`: permanent. */
type Consequence = "again" | "lost" | "refused";

const RETRYABLE: ReadonlySet<string> = new Set(["40001", "40P01"]);

/** Shutdown, startup, no connections left, read-only, terminated session. */
const CONNECTION_LOST = /^(?:57P0\d|53300|25006|25P0[34]|08\w{3})$/;

/** SQLSTATEs; codes of the driver and the system look different. */
const SQLSTATE = /^[0-9][0-9A-Z]{4}$|^[A-Z][0-9][0-9A-Z]{3}$/;

/** Returns the consequence of an error. */
export function consequenceOf({ code, message }: PostgresError): Consequence {
  if (RETRYABLE.has(code)) return "again";
  if (code === "0A000" && message.includes("cached plan")) return "lost"; // schema changed meanwhile
  return CONNECTION_LOST.test(code) || !SQLSTATE.test(code) ? "lost" : "refused";
}

const ENVIRONMENT = /^(?:5[3578]|XX|25P02)/; // resources, operator, system, an earlier statement: not this one

/** Reports whether the statement itself or missing rights caused an error. */
export function isDefect(error: PostgresError): boolean {
  return consequenceOf(error) === "refused" && !ENVIRONMENT.test(error.code);
}

/** Converts database errors to {@link DatabaseFailure}. */
export function toFailure(error: unknown): unknown {
  if (!(error instanceof PostgresError)) return error;
  const Kind = consequenceOf(error) === "refused" ? DatabaseFailure : DatabaseUnavailable;
  return new Kind(error.message, { cause: error });
}
