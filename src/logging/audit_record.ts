import { printable } from "../model/text.ts";

/** Members of an audit record, in order. Names are a stable format, documented in docs/audit.md. */
export const AUDIT_MEMBERS = [
  "event",
  "decision",
  "request", // as in the log and `X-Request-Id`
  "action", // such as `POST /rest/auth/:server`
  "task", // administrator's action, such as `ModifyShare`, and its outcome
  "done",
  "client",
  "dn",
  "method", // authenticator, such as `PASSWORD`
  "server",
  "instance", // from 1
  "daemon", // daemon's listen address
  "uid", // Unix account and group
  "gid",
  "owner", // share's owner and recipient in canonical form; `group:hpc` is a group
  "target",
  "path", // share's path, or one below it
  "access",
  "via",
  "who", // user of a share and their address
  "address",
  "user", // user affected; for a failed login the user name, or `unknown-` and a digest
  "operator", // account of the operator, as the command reports it
  "until", // end of a ban, formatted like `time`
  "renewable", // token's renewability, limit and lifetime in seconds, if requested
  "limited",
  "lifetime",
  "restrictions", // such as `path=/data/run7/ activity=read`
  "token", // id of a revoked token, or the number of them
  "ended",
  "reason", // error code such as `ERR_FORBIDDEN`, or the operator's reason
] as const;

/** Facts of an audit record; texts, but for these numbers and flags. */
export type AuditFacts =
  & {
    readonly [name in Exclude<typeof AUDIT_MEMBERS[number], "event" | "decision" | Numbers | Flags>]?: string;
  }
  & { readonly [name in Numbers]?: number }
  & { readonly [name in Flags]?: boolean };
type Numbers = "instance" | "lifetime" | "ended";
type Flags = "done" | "renewable" | "limited";

/** Audited decision or operator action. */
export type AuditRecord = AuditFacts & {
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
};

/** Formats a record as one JSON line, terminal characters escaped. @param at Milliseconds since the epoch. */
export function formatAuditLine(at: number, record: AuditRecord): string {
  const members = AUDIT_MEMBERS.map((name) => [name, record[name]]);
  return printable(JSON.stringify({ time: new Date(at).toISOString(), ...Object.fromEntries(members) }));
}
