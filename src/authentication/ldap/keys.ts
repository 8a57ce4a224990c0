import { type Infer, integer, optional } from "../../config/key.ts";
import type { ConfigRead, Place } from "../../config/kind.ts";
import { LDAP_KEYS, readLdap } from "../../outgoing/ldap/ldap_keys.ts";

/** Configuration keys of the authenticator. */
export const KEYS = {
  ...LDAP_KEYS,
  derivedLifetime: optional(integer({
    help:
      "Maximum lifetime of browser sessions and tokens of this service from such a login. If not set, while the entry exists and is not locked",
    unit: "seconds",
    max: 30 * 86_400,
    added: true,
  })),
};

/** Checks the values. */
export function read({ derivedLifetime, ...rest }: Infer<typeof KEYS>, place: Place) {
  const config = readLdap(rest, place);
  return config && { ...config, derivedLifetime };
}

/** Checked configuration of the authenticator. */
export type LdapAuthenticatorConfig = ConfigRead<typeof read>;
