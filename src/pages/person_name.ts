import { InvalidName, parseName } from "../model/distinguished_name.ts";

/** Object identifier of the common name (RFC 4519, 2.3). */
const COMMON_NAME = "2.5.4.3";

/** What a person is called: the common name in a distinguished name, or all of it if there is none. */
export function personName(dn: string): string {
  try {
    const common = parseName(dn).flat().find(({ type }) => type === COMMON_NAME);
    return common?.value.kind === "text" ? common.value.text : dn;
  } catch (error) {
    if (error instanceof InvalidName) return dn;
    throw error;
  }
}
