import type { Secret } from "../../model/secret.ts";
import { httpError } from "../../model/http_error.ts";
import { nothingThere, SessionEnded } from "./session_errors.ts";
import { refusal } from "./reply_reader.ts";
import type { ControlConnection } from "./control_connection.ts";

/** Logs in (daemon-protocol.md 5.2). @throws {ERR_NOT_FOUND | ERR_TOO_MANY_SESSIONS} Also errors of commands. */
export async function logIn(control: ControlConnection, secret: Secret): Promise<void> {
  const user = await control.command("USER anonymous");
  if (user.code !== 331) throw refusal("USER", user);
  const reply = await control.command(`PASS ${secret.reveal()}`);
  if (reply.code === 500 && /already running|too many/i.test(reply.text)) {
    throw httpError("ERR_TOO_MANY_SESSIONS", `Login refused: ${reply.text}`);
  }
  if (reply.code !== 230) throw refusal("PASS", reply);
  await checkAlive(control);
}

/** Detects a session dropped after `230` because of its base directory (daemon-protocol.md 1.8). */
async function checkAlive(control: ControlConnection): Promise<void> {
  try {
    const reply = await control.command("NOOP");
    if (reply.code !== 200) throw refusal("NOOP", reply);
  } catch (error) {
    if (!(error instanceof SessionEnded)) throw error;
    throw nothingThere("Daemon dropped the session after the login", error);
  }
}
