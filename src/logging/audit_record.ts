import { printable } from "../model/text.ts";

/** Facts of an audit record. Names are a stable format, documented in docs/audit.md. */
export interface AuditFacts {
  readonly server?: string;
  readonly instance?: number; // from 1
  readonly daemon?: string; // daemon's listen address
  readonly uid?: string; // Unix account and group
  readonly gid?: string;
  readonly owner?: string; // share's owner and recipient in canonical form; `group:hpc` is a group
  readonly target?: string;
  readonly path?: string; // share's path, or one below it
  readonly access?: string;
  readonly via?: string;
  readonly who?: string; // user of a share and their address
  readonly address?: string;
  readonly user?: string; // user affected; for a failed login the user name, or `unknown-` and a digest
  readonly renewable?: boolean; // token's renewability, limit and lifetime in seconds, if requested
  readonly limited?: boolean;
  readonly lifetime?: number;
  readonly restrictions?: string; // such as `path=/data/run7/ activity=read`
  readonly token?: string; // id of a revoked token, or the number of them
  readonly ended?: number;
  readonly until?: string; // end of a ban, formatted like `time`
  readonly task?: string; // administrator's action, such as `ModifyShare`, and its outcome
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
  readonly request?: string; // as in the log and `X-Request-Id`
  readonly action?: string; // such as `POST /rest/auth/:server`
  readonly client?: string;
  readonly dn?: string;
  readonly method?: string; // authenticator, such as `PASSWORD`
  readonly reason?: string; // error code such as `ERR_FORBIDDEN`, or the operator's reason
  readonly operator?: string; // account of the operator, as the command reports it
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
