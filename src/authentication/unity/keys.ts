import { flag, type Infer, url } from "../../config/key.ts";
import type { ConfigRead, Place } from "../../config/kind.ts";
import { TRUSTED_ASSERTION_ISSUERS } from "../../config/keys/tls_keys.ts";
import { requireHttps } from "../../config/require_https.ts";
import { ALLOW_PLAIN_HTTP, ASSIGNED, readAssignments, SHOW_CERTIFICATE } from "../provider_keys.ts";

/** What is configured of it. */
export const KEYS = {
  address: url({ help: "Authentication service of the identity provider", schemes: ["https", "http"] }),
  allowPlainHttp: ALLOW_PLAIN_HTTP,
  validate: flag({
    help: "Check the signature of assertions, see container.security.trustedAssertionIssuers",
    default: true,
  }),
  ...ASSIGNED,
  showCertificate: SHOW_CERTIFICATE,
};

/** The identity provider's address, what its assertions make of a user, and whether their signatures are checked. */
export type UnityConfig = ConfigRead<typeof read>;

/** Completes and checks the values. */
export async function read({ uid, role, groups, allowPlainHttp, ...rest }: Infer<typeof KEYS>, place: Place) {
  const { reader, name, prefix } = place;
  requireHttps(place, "address", rest.address, allowPlainHttp);
  const issuers = TRUSTED_ASSERTION_ISSUERS.prefix;
  if (!rest.validate) {
    const expected = "assertions are believed without a valid signature, expected true";
    reader.warn(`${prefix}validate`, expected, "false");
  } else if (reader.firstBelow(issuers) === undefined) {
    const expected = `${name} will accept no assertion, expected ${issuers}directoryLocations.1 too`;
    reader.warn("container.security.rest.authentication.order", expected);
  }
  // The assertion's subject names the user.
  return { ...rest, assignments: await readAssignments({ identity: undefined, uid, role, groups }, place) };
}
