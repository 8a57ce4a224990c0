import { printable } from "../model/printable.ts";

/** Facts of an audit record. Names are a stable format, documented in docs/audit.md. */
export interface AuditFacts {
  readonly server?: string;
  /** From 1. */
  readonly instance?: number;
  /** Daemon's listen address. */
  readonly daemon?: string;
  /** Unix account and group. */
  readonly uid?: string;
  readonly gid?: string;
  /** Share's owner and recipient in canonical form; `group:hpc` is a group. */
  readonly owner?: string;
  readonly target?: string;
  /** Share's path, or one below it. */
  readonly path?: string;
  readonly access?: string;
  readonly via?: string;
  /** User of a share and their address. */
  readonly who?: string;
  readonly address?: string;
  /** User affected; for a failed login the user name, or `unknown-` and a digest. */
  readonly user?: string;
  /** Token's renewability, limit and lifetime in seconds, if requested. */
  readonly renewable?: boolean;
  readonly limited?: boolean;
  readonly lifetime?: number;
  /** Such as `path=/data/run7/ activity=read`. */
  readonly restrictions?: string;
  /** Id of a revoked token, or the number of them. */
  readonly token?: string;
  readonly ended?: number;
  /** End of a ban, formatted like `time`. */
  readonly until?: string;
  /** Administrator's action, such as `ModifyShare`, and its outcome. */
  readonly task?: string;
  readonly done?: boolean;
}

/** Audited decision or operator action. */
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
  /** As in the log and `X-Request-Id`. */
  readonly request?: string;
  /** Such as `POST /rest/auth/:server`. */
  readonly action?: string;
  readonly client?: string;
  readonly dn?: string;
  /** Authenticator, such as `PASSWORD`. */
  readonly method?: string;
  /** Error code such as `ERR_FORBIDDEN`, or the operator's reason. */
  readonly reason?: string;
  /** Account of the operator, as the command reports it. */
  readonly operator?: string;
}

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

/** All members besides `time`, in order. */
export const AUDIT_MEMBERS: readonly string[] = ORDER;

/** Formats a record as one JSON line, terminal characters escaped. @param at Milliseconds since the epoch. */
export function formatAuditLine(at: number, record: AuditRecord): string {
  const members = ORDER.map((name) => [name, record[name]]);
  return printable(JSON.stringify({ time: new Date(at).toISOString(), ...Object.fromEntries(members) }));
}
