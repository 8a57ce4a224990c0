import {
  flag,
  integer,
  items,
  list,
  oneOf,
  optional,
  path,
  secretText,
  text,
  url,
} from "../../config/key.ts";
import { ASSIGNED, DISPLAY_NAME } from "../../config/read_assignments.ts";
import {
  ALLOW_PLAIN_HTTP,
  DERIVED_LIFETIME,
  SHOW_CERTIFICATE,
} from "../../config/keys/authentication_keys.ts";

/** Configuration keys of OAuth. */
export const KEYS = {
  issuer: optional(url({
    help:
      "OIDC issuer (iss). The service discovers its keys and endpoints and verifies its signed tokens locally",
    schemes: ["https", "http"],
    added: true,
  })),
  address: optional(url({
    help:
      "Userinfo endpoint of the OIDC server, or its introspection endpoint if validate=true. Not needed with issuer",
    schemes: ["https", "http"],
  })),
  jwksUri: optional(url({
    help: "JWKS URL, if it is on another host or port than the issuer",
    schemes: ["https", "http"],
    added: true,
  })),
  allowPlainHttp: ALLOW_PLAIN_HTTP,
  validate: flag({ help: "Use the introspection endpoint, as an OAuth client", default: false }),
  clientId: optional(
    text({ name: "clientID", help: "OAuth client id, for validate and signIn" }),
  ),
  clientSecret: optional(secretText({ help: "OAuth client secret, for validate and signIn" })),
  signIn: flag({
    help:
      "Let browsers sign in at the issuer with this client; its redirect URI is <externalurl>/login/<method>/done",
    default: false,
    added: true,
  }),
  signInTitle: optional(
    text({ help: "Label of the sign-in button. If not set, the host name of the issuer", added: true }),
  ),
  signInScope: list({
    help: "Scopes to request at sign-in; must include openid",
    default: ["openid"],
    added: true,
  }),
  clientAuthentication: oneOf(["client_secret_post", "client_secret_basic", "private_key_jwt"], {
    help: "Client authentication: secret in the body or in the header, or a signature with clientKey",
    default: "client_secret_post",
    added: true,
  }),
  clientKey: optional(path({
    help: "Private key of this client for private_key_jwt, unencrypted PEM",
    added: true,
  })),
  clientKeyId: optional(text({ help: "Key id (kid) of clientKey at the OIDC server", added: true })),
  askAlways: flag({
    help:
      "Ask the OIDC server about verified tokens as well, to get further claims and detect revoked tokens",
    default: false,
    added: true,
  }),
  cacheSeconds: integer({
    help: "Cache time for answers about a token, at most until the token expires; 0 disables the cache",
    unit: "seconds",
    max: 86_400,
    default: 300,
    added: true,
  }),
  derivedLifetime: DERIVED_LIFETIME,
  identity: optional(
    text({ name: "identityAssign", help: 'Expression for the user\'s name, for example "UID="+email' }),
  ),
  identityTemplate: optional(text({
    help:
      "Template for the user's name, with claims between percent signs. Default with issuer: CN=%sub%,O=%iss%",
    added: true,
  })),
  ...ASSIGNED,
  ...DISPLAY_NAME,
  dnTemplate: optional(text({
    help:
      "Deprecated, see identityAssign: a name with %attribute placeholders. If both are unset: UID=%email",
  })),
  showCertificate: SHOW_CERTIFICATE,
  opaqueTokens: optional(flag({
    help:
      "Ask the OIDC server about tokens that are not signed JWTs (Keycloak does not issue such tokens); default false with issuer, else true",
    added: true,
  })),
  requiredAudience: list({
    help: "Audiences (aud), one of which the token must have",
    default: [],
    added: true,
  }),
  requiredClient: list({
    help: "Clients (client_id, azp), one of which the token must be issued to",
    default: [],
    added: true,
  }),
  acceptAnyAudience: flag({
    help: "Accept all tokens of the issuer, for any audience, instead of requiredAudience or requiredClient",
    default: false,
    added: true,
  }),
  requiredScope: list({
    help: "Scopes (scope, scp), all of which the token must have",
    default: [],
    added: true,
  }),
  requiredAcr: list({
    help: "Authentication context classes (acr), one of which the login must have",
    default: [],
    added: true,
  }),
  maxAuthAge: optional(integer({
    help: "Maximum age of the login at the OIDC server (auth_time)",
    unit: "seconds",
    min: 1,
    added: true,
  })),
  capabilities: flag({
    help: "Restrict sessions to the token's scopes such as storage.read:/path (WLCG, SciTokens)",
    default: false,
    added: true,
  }),
  capabilitiesBase: optional(text({
    help: "Base directory of paths in these scopes. If not set, the root of the file system",
    added: true,
  })),
  certificateBound: flag({
    help:
      "Request client certificates for certificate-bound tokens (RFC 8705); browsers then ask users for a certificate",
    default: false,
    added: true,
  }),
  emailVerified: optional(flag({
    help:
      "Reject users without email_verified; default true if issuer is set and the name contains email, else false",
    added: true,
  })),
  groupsClaim: list({
    help:
      "Claims that contain groups, for example realm_access.roles or eduperson_entitlement, instead of groupsAssign",
    default: [],
    added: true,
  }),
  groupsPrefix: optional(text({
    help:
      "Required prefix of groups, which the service removes, for example /hpc/ or urn:mace:example.org:group:",
    added: true,
  })),
  groupsMap: items(text({
    help:
      "Unix group, or several with : between, for the group with this name. If any such key is set, the service ignores all other groups",
    added: true,
  })),
  requiredGroups: list({
    help: "Groups (after groupsMap), one of which the user must be in",
    default: [],
    added: true,
  }),
};
