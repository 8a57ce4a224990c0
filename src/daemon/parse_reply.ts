import type { UserInfo } from "./daemon_group.ts";

/*
 * Replies of daemons. The end of the stream is not protected, and users write the key lines, so the parsers check each
 * form as a whole; only LF ends a line (daemon-protocol.md 1.3, 2). They return `undefined` for an invalid reply.
 */

const MAX_REFUSAL = 2010; // UTF-16 units

/** Daemon's reply to a ping (daemon-protocol.md 1.7). */
export interface PingReply {
  readonly version: string;
  readonly sessionLimit?: number; // per account; absent: no limit
  readonly listenPort?: number;
}

/** Daemon's reply to a session request (daemon-protocol.md 1.8). */
export type SessionReply =
  | { readonly kind: "expected"; readonly port: number }
  /** No free slot for the account. */
  | { readonly kind: "limit"; readonly text: string }
  /** No encryption of data connections. */
  | { readonly kind: "no-encryption"; readonly text: string }
  /** For the log only: it may name accounts. */
  | { readonly kind: "refused"; readonly text: string };

/** Parses a ping reply; `undefined` if invalid. */
export function parsePing(reply: string): PingReply | undefined {
  const values = new Map<string, string>();
  for (const line of lines(reply)) {
    const colon = line.indexOf(":");
    if (colon > 0) values.set(line.slice(0, colon).trim(), line.slice(colon + 1).trim());
  }
  const version = values.get("Version");
  if (version === undefined || !/^[\w.+~ -]{1,64}$/.test(version)) return undefined;
  const number = (name: string, greatest = Infinity) => {
    const text = values.get(name) ?? "";
    return /^[1-9]\d{0,8}$/.test(text) && Number(text) <= greatest ? Number(text) : undefined;
  };
  return { version, sessionLimit: number("MaxSessionsPerClient"), listenPort: number("ListenPort", 65535) };
}

/** Parses a session reply; `undefined` if invalid. */
export function parseSession(reply: string): SessionReply | undefined {
  const accepted = /^OK::([1-9]\d{0,4})\r?\n$/.exec(reply);
  if (accepted !== null) {
    const port = Number(accepted[1]);
    return port <= 65535 ? { kind: "expected", port } : undefined;
  }
  // Older daemons send `500::` (daemon-protocol.md, appendix).
  const refused = /^(?:ERROR|500)::([^\n]*)\n$/.exec(reply);
  if (refused === null || reply.length > MAX_REFUSAL) return undefined;
  const text = refused[1]?.trim() ?? "";
  return { kind: kindOf(text), text };
}

function kindOf(text: string): "limit" | "no-encryption" | "refused" {
  if (/too many active/i.test(text)) return "limit";
  return /^encrypted connections are not supported/i.test(text) ? "no-encryption" : "refused";
}

/** Parses a reply about an account; reports an account that the daemon refuses, such as root, as unknown. */
export function parseUserInfo(reply: string): UserInfo | undefined {
  if (reply.length <= MAX_REFUSAL && /^5\d\d [^\n]*\n\n?$/.test(reply)) return { kind: "unknown" };
  let home: string | undefined;
  let complete = false;
  const keyLines: string[] = [];
  for (const line of lines(reply)) {
    const [, key] = /^Accepted key \d{1,9}: ?(.*)$/s.exec(line) ?? [];
    if (key !== undefined) {
      if (key !== "" && !key.startsWith("#")) keyLines.push(key);
    } else if (line.startsWith("Home:")) home ??= line.slice("Home:".length).trim();
    else if (line.startsWith("Status:")) complete = true;
  }
  // The status is last: without it, keys may be missing.
  return complete ? { kind: "known", home, keyLines } : undefined;
}

/** Splits lines; only a CR right before LF is removed. */
function lines(reply: string): string[] {
  return reply.split("\n").map((line) => line.endsWith("\r") ? line.slice(0, -1) : line);
}
