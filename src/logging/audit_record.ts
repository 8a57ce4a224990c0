import { printable } from "../model/printable.ts";

/**
 * What can be told about a decision besides who, what and when. The names are part of the format: documented in
 * docs/audit.md, added to but never changed.
 */
export interface AuditFacts {
  /** Logical server. */
  readonly server?: string;
  /** Physical instance, counted from 1. */
  readonly instance?: number;
  /** Listen address `host:port` of the daemon that expects the session. */
  readonly daemon?: string;
  /** Unix account and group. */
  readonly uid?: string;
  readonly gid?: string;
  /** Owner of a share, and for whom it is, as they are compared: `group:hpc` is a group. */
  readonly owner?: string;
  readonly target?: string;
  /** Path of a share, or what was reached below it. */
  readonly path?: string;
  /** What a share grants. */
  readonly access?: string;
  /** How a share was used. */
  readonly via?: string;
  /** Who used it, and from where. */
  readonly who?: string;
  readonly address?: string;
  /**
   * User that was banned, whose bans were lifted or tokens taken back; whom an administrator asked about, or had a token made for; of a failed
   * login the user name, or `unknown-` and a digest.
   */
  readonly user?: string;
  /** Whether a token can be renewed, what it is limited to, and its lifetime in seconds, where the caller chose. */
  readonly renewable?: boolean;
  readonly limited?: boolean;
  readonly lifetime?: number;
  /** To what a token is narrowed, such as `path=/data/run7/ activity=read`. */
  readonly restrictions?: string;
  /** Id of a token that was taken back; or how many were, all of a user. */
  readonly token?: string;
  readonly ended?: number;
  /** End of a ban: a moment as in `time`. */
  readonly until?: string;
  /** Action of an administrator, such as `ModifyShare`, and whether it was carried out. */
  readonly task?: string;
  readonly done?: boolean;
}

/** One decision, or one act of the operator. */
export interface AuditRecord extends AuditFacts {
  readonly event:
    | "session"
    | "token"
    | "share"
    | "admin"
    | "certificate"
    | "login"
    | "ban"
    | "lift"
    | "revoke"
    | "reload"
    | "start"
    | "stop";
  readonly decision: "granted" | "refused";
  /** Id of the request, as in the log and in the answer's `X-Request-Id`. */
  readonly request?: string;
  /** HTTP method and pattern of the path, such as `POST /rest/auth/:server`. */
  readonly action?: string;
  /** Address of the client. */
  readonly client?: string;
  /** Distinguished name of the caller. */
  readonly dn?: string;
  /** Method that recognised the caller, such as `PASSWORD`. */
  readonly method?: string;
  /** Code of the error, such as `ERR_FORBIDDEN`, or the reason in words for acts of the operator. */
  readonly reason?: string;
  /** Account that banned, lifted or took tokens back, as the command told it. */
  readonly operator?: string;
}

/** Order of the members in a line. */
const ORDER = [
  "event",
  "decision",
  "request",
  "action",
  "task",
  "done",
  "client",
  "dn",
  "method",
  "server",
  "instance",
  "daemon",
  "uid",
  "gid",
  "owner",
  "target",
  "path",
  "access",
  "via",
  "who",
  "address",
  "user",
  "operator",
  "until",
  "renewable",
  "limited",
  "lifetime",
  "restrictions",
  "token",
  "ended",
  "reason",
] as const satisfies readonly (keyof AuditRecord)[];

/** Every member that a line can have besides `time`, in their order. */
export const AUDIT_MEMBERS: readonly string[] = ORDER;

/**
 * A record as one line of JSON, members in a fixed order, unknown ones left out. What a terminal might take for a command
 * is escaped.
 * @param at Milliseconds since the epoch.
 */
export function formatAuditLine(at: number, record: AuditRecord): string {
  const members = ORDER.map((name) => [name, record[name]]);
  return printable(JSON.stringify({ time: new Date(at).toISOString(), ...Object.fromEntries(members) }));
}
