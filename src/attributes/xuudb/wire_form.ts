import type { OutgoingRequest } from "../../outgoing/outgoing_http.ts";

/** What an XUUDB knows about a user: lists joined with `:`. All absent: the user is unknown. */
export interface XuudbRecord {
  readonly xlogin?: string;
  readonly role?: string;
  readonly projects?: string;
}

/** One of the two ways to ask an XUUDB (authentication.md 7.6). */
export interface WireForm {
  /** @param address Such as `https://xuudb.example:34463`. */
  request(address: string, gcid: string, dn: string): OutgoingRequest;
  /** @throws {InvalidAnswer} */
  read(body: string): XuudbRecord;
}

/** An answer that is not of the expected form. */
export class InvalidAnswer extends Error {
  override readonly name = "InvalidAnswer";
}

/** The record with those of the texts that are there. */
export function recordOf(text: (name: keyof XuudbRecord) => string | undefined): XuudbRecord {
  const [xlogin, role, projects] = [text("xlogin"), text("role"), text("projects")];
  return {
    xlogin,
    role,
    projects,
  };
}
