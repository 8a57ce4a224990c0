import { InvalidName, parseName } from "../../model/distinguished_name.ts";
import { parseStoredHash, type StoredHash } from "./stored_hash.ts";

type PasswordLine =
  | { readonly kind: "nothing" }
  | { readonly kind: "entry"; readonly user: string; readonly hash: StoredHash; readonly dn: string }
  /** Disabled user: on purpose by an empty hash, or by a mistake with `expected`. */
  | { readonly kind: "disabled"; readonly user: string; readonly expected?: string }
  | { readonly kind: "unusable"; readonly expected: string };

/** Parses `username:hash:salt:DN` (specification 2.5, authentication.md 2.1); only the DN is trimmed. */
export function parsePasswordLine(line: string): PasswordLine {
  if (/^\s*(?:#|$)/.test(line)) return { kind: "nothing" };
  const [user, hash, salt, ...rest] = line.split(":");
  if (user === undefined || hash === undefined || salt === undefined || rest.length === 0) {
    const missing = salt === undefined ? "all four fields" : "the distinguished name at the end";
    const expected =
      `expected username:hash:salt:DN: without ${missing} nobody can log in by this line, append what is missing ` +
      "or let authserver passwd write the line";
    return { kind: "unusable", expected };
  }
  if (user === "") return { kind: "unusable", expected: "expected a user name before the first colon" };
  if (hash === "") return { kind: "disabled", user };
  const stored = parseStoredHash({ hash, salt });
  if ("expected" in stored) return { kind: "disabled", user, expected: stored.expected };
  const dn = rest.join(":").trim();
  const diagnostic = nameDiagnostic(dn);
  return diagnostic === undefined ? { kind: "entry", user, hash: stored, dn } : {
    kind: "disabled",
    user,
    expected: `expected a distinguished name after the third colon: ${diagnostic}`,
  };
}

/** Returns why a text is no user's DN. */
export function nameDiagnostic(dn: string): string | undefined {
  if (dn === "") return "it is empty";
  try {
    parseName(dn);
    return undefined;
  } catch (error) {
    if (error instanceof InvalidName) return `${error.reason} (at its character ${error.position})`;
    throw error;
  }
}
