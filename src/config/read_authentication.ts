import type { KeyReader } from "./key_reader.ts";
import { AUTHENTICATION, METHOD } from "./keys/authentication_keys.ts";
import type { KindList } from "./kind.ts";
import { readKinds } from "./read_kinds.ts";
import type { AuthenticationConfig } from "./service_config.ts";

/** The methods of authentication, in order (specification 5). */
export async function readAuthentication(
  reader: KeyReader,
  list: KindList,
): Promise<AuthenticationConfig | undefined> {
  const { prefix } = AUTHENTICATION;
  const keys = reader.read(AUTHENTICATION);
  if (keys?.order.length === 0) {
    const expected =
      "no method of authentication, so that every caller is anonymous; expected names such as PASSWORD";
    reader.warn(`${prefix}order`, expected);
  }
  const methods = await readKinds(reader, { prefix, order: keys?.order, common: METHOD, list });
  return keys && { methods, failOnMissingCredentials: keys.failOnMissingCredentials };
}
