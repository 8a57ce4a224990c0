import type { Reply } from "./reply_reader.ts";
import { AccessRefused, SessionFailed } from "./session_errors.ts";

/** The error that an unexpected reply stands for. Codes are coarse and texts hold internals: both go to the log. */
export function refusal(command: string, { code, text }: Reply): Error {
  const message = `${command} answered ${code} ${text}`;
  return code === 534 || code === 550 ? new AccessRefused(message) : new SessionFailed(message);
}
