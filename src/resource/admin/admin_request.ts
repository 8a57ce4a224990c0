import { attempt } from "../../model/attempt.ts";
import { isJsonObject } from "../../model/json_object.ts";
import type { InstanceStatus } from "../../daemon/daemon_group.ts";
import type { RegisteredInstance } from "../../instances/instance_register.ts";
import type { AuditFacts } from "../../logging/audit_record.ts";
import type { SinkState } from "../../logging/sink.ts";
import type { RemoteStatus } from "../../outgoing/remote_system.ts";
import type { DatabaseStatus } from "../../store/postgres/postgres_database.ts";
import { type Ban, type BanSubject, InvalidBanSubject, parseBanSubject } from "../../throttling/ban.ts";

/** Operator's name as claimed, for the record only: the socket cannot tell the service's account and root apart. */
interface Claimed {
  readonly operator?: string;
}

/** Request of an operator or administrator. On the control socket it is one line of JSON. */
export type AdminRequest =
  | { readonly command: "status" }
  | { readonly command: "reload" }
  | { readonly command: "ban list" }
  | { readonly command: "ban add"; readonly subject: BanSubject; readonly seconds: number } & Claimed
  | { readonly command: "ban remove"; readonly subject: BanSubject } & Claimed
  | { readonly command: "user show"; readonly uid: string }
  | { readonly command: "token list"; readonly user: string }
  | { readonly command: "token revoke"; readonly user: string; readonly id?: string } & Claimed;

export type AdminAnswer = { readonly status: CoreStatus } | AdminResult;

/** Answer to a request other than `status`. */
export interface AdminResult {
  readonly result: unknown; // plain data
  /** Absent if the request changed nothing. */
  readonly change?: {
    readonly event: "ban" | "lift" | "revoke";
    readonly facts: Pick<AuditFacts, "user" | "address" | "until" | "token" | "ended">;
    readonly seconds?: number; // duration of a ban, only for the log
    readonly lifted?: number; // number of removed bans and counts of failed logins, only for the log
  };
}

/** State of a core, for administrators only: it contains addresses and reasons. */
export interface CoreStatus {
  readonly servers: readonly {
    readonly name: string;
    readonly usable: boolean;
    readonly instances: readonly InstanceStatus[];
    readonly version?: string;
    readonly sessionLimit?: number;
  }[];
  readonly providers: readonly ({ readonly authenticator: string } & RemoteStatus)[]; // or `attributes.<source>`
  readonly certificate?: { readonly dn: string; readonly starts: number; readonly expires: number };
  readonly bans: Readonly<Record<Ban["reason"], number>>;
  readonly sinks: readonly SinkState[];
  readonly refusedFiles: readonly string[]; // diagnostics of files whose version on disk is not in use
  readonly shares?: number; // number of shares; absent without data sharing and while the store is down
  readonly cluster?: {
    readonly instances: readonly RegisteredInstance[];
    /** Whether serving instances of the same version have different configurations. */
    readonly configurationsDiffer: boolean;
    readonly database: DatabaseStatus;
    /** Whether this instance knows which tokens are revoked; if not, it refuses all. */
    readonly knowsRevoked: boolean;
  };
}

/** Longest request line, in bytes. */
export const MAX_REQUEST = 16 * 1024;
/** Longest reply line, in bytes. */
export const MAX_REPLY = 8 * 1024 * 1024;

/** Longest ban by hand, in seconds: ten years. */
export const MAX_BAN_SECONDS = 10 * 365 * 24 * 3600;

const MAX_USER = 256;
const MAX_NAME = 1024;

/** Error of a failed request; the message is for the operator. */
export class AdminRequestFailed extends Error {}

/** Error of a malformed request; the message is for the operator. */
export class InvalidAdminRequest extends AdminRequestFailed {}

/** Formats a request as a line without line end. */
export function formatAdminRequest(request: AdminRequest): string {
  if (!("subject" in request)) return JSON.stringify(request);
  const { subject, ...rest } = request;
  return JSON.stringify({ ...rest, ...subject });
}

/** @throws {InvalidAdminRequest} */
export function parseAdminRequest(line: string): AdminRequest {
  const request = parseObject(line);
  const { command } = request;
  switch (command) {
    case "status":
    case "reload":
    case "ban list":
      return { command };
    case "ban add": {
      const [subject, seconds] = [subjectOf(request), secondsOf(request.seconds)];
      return { command, subject, seconds, ...claimedIn(request) };
    }
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
      throw new InvalidAdminRequest(
        "The service does not know this command; it may be older than the command",
      );
  }
}

function parseObject(line: string): Readonly<Record<string, unknown>> {
  const value: unknown = attempt(() => JSON.parse(line), SyntaxError, () => {
    throw new InvalidAdminRequest("Expected a line of JSON");
  });
  if (!isJsonObject(value)) throw new InvalidAdminRequest("Expected a JSON object");
  return value;
}

/** Reads the subject of a ban. @throws {InvalidAdminRequest} If it names no user and no address. */
export function subjectOf(given: { readonly user?: unknown; readonly address?: unknown }): BanSubject {
  return attempt(() => parseBanSubject(given), InvalidBanSubject, (cause) => {
    throw new InvalidAdminRequest(`No ban: ${cause.message}`, { cause });
  });
}

function textOf(value: unknown, expected: string, longest = MAX_USER): string {
  if (typeof value === "string" && value !== "" && value.length <= longest) return value;
  throw new InvalidAdminRequest(`Expected ${expected} of 1 to ${longest} characters`);
}

function claimedIn({ operator }: { readonly operator?: unknown }): Claimed {
  return operator === undefined ? {} : { operator: textOf(operator, "an operator's name") };
}

function secondsOf(value: unknown): number {
  if (typeof value !== "number" || !Number.isInteger(value) || value < 1 || value > MAX_BAN_SECONDS) {
    throw new InvalidAdminRequest(`Expected a whole number of seconds from 1 to ${MAX_BAN_SECONDS}`);
  }
  return value;
}
