import { InvalidName, parseName, sameName } from "../model/distinguished_name.ts";
import { ANONYMOUS_DN } from "../model/identity.ts";

/** Reports whether a DN is personal: not empty, anonymous or the server's own. */
export function isPersonalName(dn: string, serverName: string): boolean {
  try {
    return parseName(dn).length > 0 && !sameName(dn, ANONYMOUS_DN) && !sameName(dn, serverName);
  } catch (error) {
    if (error instanceof InvalidName) return false;
    throw error;
  }
}
