import { ifValidDn, parseName } from "../model/distinguished_name.ts";

const COMMON_NAME = "2.5.4.3"; // common name (RFC 4519, 2.3)

/** Returns the common name in a distinguished name, or all of it. */
export function personName(dn: string): string {
  const common = ifValidDn(() => parseName(dn))?.flat().find(({ type }) => type === COMMON_NAME);
  return common?.value.kind === "text" ? common.value.text : dn;
}
