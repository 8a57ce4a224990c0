import { PythonError } from "./python_text.ts";
import type { Session } from "./session.ts";

/** Returns a required parameter; without it, fails as the daemon does, on the first method that it calls. */
export function required(parameters: string | undefined, method: "lower" | "split" | "strip"): string {
  if (parameters === undefined) throw new PythonError(`'NoneType' object has no attribute '${method}'`);
  return parameters;
}

/** Returns the path of a command. @throws {SessionError} 534 outside the base. */
export function pathOf(session: Session, parameters: string | undefined): string {
  return session.paths.absolute(required(parameters, "strip"));
}

/** Returns {@link pathOf}, for the commands that also check includes and excludes. */
export function allowedPathOf(session: Session, parameters: string | undefined): string {
  const path = pathOf(session, parameters);
  session.paths.assertAllowed(path);
  return path;
}
