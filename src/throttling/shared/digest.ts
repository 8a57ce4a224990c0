import { hash } from "node:crypto";
import type { BanSubject } from "../ban.ts";

/** What stands for a text of strangers where it is shared: short, and read by nobody. */
export function digest(text: string): string {
  return hash("sha256", text, "base64url");
}

/** The same for who is meant, each part apart; empty where there is none. */
export function subjectDigests({ user, address }: BanSubject): { user: string; address: string } {
  return {
    user: user === undefined ? "" : digest(user),
    address: address === undefined ? "" : digest(address),
  };
}
