import { type BanSubject, InvalidBanSubject, parseBanSubject } from "../../throttling/ban.ts";

/**
 * Who the caller says that he is. Only the service's account and root can open the socket, and the runtime does not tell
 * which of them did; so this is for the record, and no proof.
 */
interface Claimed {
  readonly operator?: string;
}

/** What the operator's commands ask of a running service; one line of JSON each. */
export type ControlRequest =
  | { readonly command: "status" }
  | { readonly command: "reload" }
  | { readonly command: "ban list" }
  | { readonly command: "ban add"; readonly subject: BanSubject; readonly seconds: number } & Claimed
  | { readonly command: "ban remove"; readonly subject: BanSubject } & Claimed
  | { readonly command: "user show"; readonly uid: string }
  | { readonly command: "token list"; readonly user: string }
  /** Absent id: all of the user. */
  | { readonly command: "token revoke"; readonly user: string; readonly id?: string } & Claimed;

/** The answer, one line of JSON. */
export type ControlReply =
  | { readonly ok: true; readonly result: unknown }
  | { readonly ok: false; readonly error: string };

/** Longest request line, in bytes. */
export const MAX_REQUEST = 16 * 1024;
/** Longest reply line, in bytes. */
export const MAX_REPLY = 8 * 1024 * 1024;

/** Longest ban by hand, in seconds: ten years. */
export const LONGEST_BAN = 10 * 365 * 24 * 3600;

/** Longest user name, as `parseCredentials` has it. */
const MAX_USER = 256;
/** Longest distinguished name, in characters. */
const MAX_NAME = 1024;

/** A line that is no request; the message says why. */
export class InvalidControlRequest extends Error {
  override readonly name = "InvalidControlRequest";
}

/** A request as its line, without line end. */
export function formatControlRequest(request: ControlRequest): string {
  if (!("subject" in request)) return JSON.stringify(request);
  const { subject, ...rest } = request;
  return JSON.stringify({ ...rest, ...subject });
}

/** @throws {InvalidControlRequest} */
export function parseControlRequest(line: string): ControlRequest {
  const request = parseObject(line);
  const { command } = request;
  switch (command) {
    case "status":
    case "reload":
    case "ban list":
      return { command };
    case "ban add":
      return {
        command,
        subject: subjectOf(request),
        seconds: secondsOf(request.seconds),
        ...claimedIn(request),
      };
    case "ban remove":
      return { command, subject: subjectOf(request), ...claimedIn(request) };
    case "user show":
      return { command, uid: textOf(request.uid, "an account name") };
    case "token list":
      return { command, user: textOf(request.user, "a user", MAX_NAME) };
    case "token revoke": {
      const user = textOf(request.user, "a user", MAX_NAME);
      const id = request.id === undefined ? undefined : textOf(request.id, "the id of a token");
      return { command, user, id, ...claimedIn(request) };
    }
    default:
      throw new InvalidControlRequest(
        "The service does not know this command; it may be older than the command",
      );
  }
}

function parseObject(line: string): Readonly<Record<string, unknown>> {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    throw new InvalidControlRequest("Expected a line of JSON");
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new InvalidControlRequest("Expected a JSON object");
  }
  return { ...value };
}

/** Whom a ban is about. @throws {InvalidControlRequest} If it is nobody, or everybody. */
export function subjectOf(given: { readonly user?: unknown; readonly address?: unknown }): BanSubject {
  try {
    return parseBanSubject(given);
  } catch (error) {
    if (!(error instanceof InvalidBanSubject)) throw error;
    throw new InvalidControlRequest(`No ban: ${error.message}`, { cause: error });
  }
}

function textOf(value: unknown, expected: string, longest = MAX_USER): string {
  if (typeof value === "string" && value !== "" && value.length <= longest) return value;
  throw new InvalidControlRequest(`Expected ${expected} of 1 to ${longest} characters`);
}

function claimedIn({ operator }: { readonly operator?: unknown }): Claimed {
  return operator === undefined ? {} : { operator: textOf(operator, "an operator's name") };
}

function secondsOf(value: unknown): number {
  if (typeof value !== "number" || !Number.isInteger(value) || value < 1 || value > LONGEST_BAN) {
    throw new InvalidControlRequest(`Expected a whole number of seconds from 1 to ${LONGEST_BAN}`);
  }
  return value;
}
