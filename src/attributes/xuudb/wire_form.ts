import type { OutgoingRequest } from "../../outgoing/outgoing_http.ts";

/** User's record; lists joined with `:`; empty for unknown users. */
export interface XuudbRecord {
  readonly xlogin?: string;
  readonly role?: string;
  readonly projects?: string;
}

/** Protocol of an XUUDB (authentication.md 7.6). */
export interface WireForm {
  /** @param address Such as `https://xuudb.example:34463`. */
  request(address: string, gcid: string, dn: string): OutgoingRequest;
  read(body: string): XuudbRecord;
}

/** Error for a malformed response. */
export class InvalidAnswer extends Error {
  override readonly name = "InvalidAnswer";
}

/** Collects the present texts. */
export function recordOf(text: (name: keyof XuudbRecord) => string | undefined): XuudbRecord {
  const [xlogin, role, projects] = [text("xlogin"), text("role"), text("projects")];
  return {
    xlogin,
    role,
    projects,
  };
}
