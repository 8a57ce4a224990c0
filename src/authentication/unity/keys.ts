import { flag, type Infer, oneOf, optional, text, url } from "../../config/key.ts";
import { type ConfigRead, type Place, requireHttps } from "../../config/kind.ts";
import { TRUSTED_ASSERTION_ISSUERS } from "../../config/keys/tls_keys.ts";
import { templateDiagnostic } from "../../model/name_template.ts";
import { ASSIGNED, DISPLAY_NAME, readAssignments } from "../../config/read_assignments.ts";
import {
  ALLOW_PLAIN_HTTP,
  DERIVED_LIFETIME,
  SHOW_CERTIFICATE,
} from "../../config/keys/authentication_keys.ts";

/** Configuration keys of Unity. */
export const KEYS = {
  address: url({ help: "URL of the SAML authentication service", schemes: ["https", "http"] }),
  allowPlainHttp: ALLOW_PLAIN_HTTP,
  validate: flag({
    help: "Verify signatures of SAML assertions, see container.security.trustedAssertionIssuers",
    default: true,
  }),
  nameIdFormat: oneOf(["X509SubjectName", "persistent", "emailAddress", "unspecified"], {
    help: "Requested NameID format; the service rejects other formats",
    default: "X509SubjectName",
    added: true,
  }),
  identityTemplate: optional(text({
    help:
      "Template for the user's name, with %NameID%, %Issuer% or attributes between percent signs. If not set, the NameID",
    added: true,
  })),
  ...ASSIGNED,
  ...DISPLAY_NAME,
  showCertificate: SHOW_CERTIFICATE,
  derivedLifetime: DERIVED_LIFETIME,
};

export type UnityConfig = ConfigRead<typeof read>;

/** Completes and checks the values. */
export async function read(
  { uid, role, groups, displayName, allowPlainHttp, ...rest }: Infer<typeof KEYS>,
  place: Place,
) {
  const { reader, name, prefix } = place;
  requireHttps(place, "address", rest.address, allowPlainHttp);
  checkNaming(rest, place);
  const issuers = TRUSTED_ASSERTION_ISSUERS.prefix;
  if (!rest.validate) {
    const expected = "assertions are believed without a valid signature, expected true";
    reader.warn(`${prefix}validate`, expected, "false");
  } else if (reader.firstBelow(issuers) === undefined) {
    const expected = `${name} will accept no assertion, expected ${issuers}directoryLocations.1 too`;
    reader.warn("container.security.rest.authentication.order", expected);
  }
  // The assertion's subject is the identity.
  const texts = { identity: undefined, uid, role, groups, displayName };
  return { ...rest, assignments: await readAssignments(texts, place) };
}

/** Requires a template unless the format is X.509, which is a DN. */
function checkNaming(
  { nameIdFormat, identityTemplate }: Pick<Infer<typeof KEYS>, "nameIdFormat" | "identityTemplate">,
  { reader, prefix }: Place,
): void {
  if (identityTemplate === undefined) {
    if (nameIdFormat === "X509SubjectName") return;
    const expected = `expected ${prefix}identityTemplate too, such as CN=%NameID%,O=%Issuer%`;
    reader.error(`${prefix}nameIdFormat`, expected, nameIdFormat);
    return;
  }
  const diagnostic = templateDiagnostic(identityTemplate, "NameID");
  if (diagnostic !== undefined) reader.error(`${prefix}identityTemplate`, diagnostic, identityTemplate);
}
