import { flag, type Infer, optional, secretText, text, url } from "../../config/key.ts";
import type { ConfigRead, Place } from "../../config/kind.ts";
import { requireHttps } from "../../config/require_https.ts";
import { ALLOW_PLAIN_HTTP, ASSIGNED, readAssignments, SHOW_CERTIFICATE } from "../provider_keys.ts";

/** What is configured of it. */
export const KEYS = {
  address: url({
    help: "Userinfo endpoint of the OIDC server, or with validate=true its introspection endpoint",
    schemes: ["https", "http"],
  }),
  allowPlainHttp: ALLOW_PLAIN_HTTP,
  validate: flag({ help: "Ask the introspection endpoint, as an OAuth client", default: false }),
  clientId: optional(
    text({ name: "clientID", help: "Name of this client at the OIDC server, for validate=true" }),
  ),
  clientSecret: optional(secretText({ help: "Secret of this client, for validate=true" })),
  identity: optional(
    text({ name: "identityAssign", help: 'Expression for the user\'s name, such as "UID="+email' }),
  ),
  ...ASSIGNED,
  dnTemplate: optional(text({
    help: "Deprecated, see identityAssign: a name with %attribute placeholders; without either, UID=%email",
  })),
  showCertificate: SHOW_CERTIFICATE,
  opaqueTokens: flag({
    help: "Pass on tokens that are no signed JWTs; false where the server makes none, such as Keycloak",
    default: true,
    added: true,
  }),
  requiredAudience: optional(text({
    help:
      "Audience (aud) that the server's answer must name; without any of the three, every token of the server logs in",
    added: true,
  })),
  requiredClient: optional(text({
    help: "Client (client_id or azp) that the token must have been issued to",
    added: true,
  })),
  requiredScope: optional(text({ help: "Scope that the token must have", added: true })),
};

/** The identity provider's address, how it is asked, and what its answer must name and makes of a user. */
export type OAuthConfig = ConfigRead<typeof read>;

/** Names of users where nothing is said about them, as in the Java service. */
const NAME_BY_EMAIL = "UID=%email";

/** Completes and checks the values. */
export async function read(
  { validate, clientId, clientSecret, identity, uid, role, groups, allowPlainHttp, ...rest }: Infer<
    typeof KEYS
  >,
  place: Place,
) {
  const { reader, prefix } = place;
  requireHttps(place, "address", rest.address, allowPlainHttp);
  const assignments = await readAssignments({ identity, uid, role, groups }, place);
  if (identity === undefined && rest.dnTemplate === undefined) {
    const expected =
      `users are known by the e-mail address that the server tells, expected ${prefix}identityAssign="UID="+email`;
    reader.warn(`${prefix}address`, expected);
  } else if (rest.dnTemplate !== undefined) {
    reader.warn(`${prefix}dnTemplate`, `deprecated, expected ${prefix}identityAssign`, rest.dnTemplate);
  }
  if (validate && (clientId === undefined || clientSecret === undefined)) {
    const missing = clientId === undefined ? "clientID" : "clientSecret";
    reader.error(`${prefix}validate`, `expected ${prefix}${missing} too`, "true");
  }
  const introspection = validate && clientId !== undefined && clientSecret !== undefined
    ? { clientId, clientSecret }
    : undefined;
  const dnTemplate = rest.dnTemplate ?? (identity === undefined ? NAME_BY_EMAIL : undefined);
  return { ...rest, dnTemplate, introspection, assignments };
}
