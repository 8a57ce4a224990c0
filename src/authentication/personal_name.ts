import { InvalidName, parseName, sameName } from "../model/distinguished_name.ts";
import { ANONYMOUS_DN } from "../model/identity.ts";

/** Whether a text names somebody: a DN that is neither empty, nor the anonymous caller's, nor the server's own. */
export function isPersonalName(dn: string, serverName: string): boolean {
  try {
    return parseName(dn).length > 0 && !sameName(dn, ANONYMOUS_DN) && !sameName(dn, serverName);
  } catch (error) {
    if (error instanceof InvalidName) return false;
    throw error;
  }
}
