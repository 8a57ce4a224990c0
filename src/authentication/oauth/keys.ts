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
import { ALLOW_PLAIN_HTTP, ASSIGNED, DERIVED_LIFETIME, SHOW_CERTIFICATE } from "../provider_keys.ts";

/** Configuration keys of OAuth. */
export const KEYS = {
  issuer: optional(url({
    help:
      "Issuer (iss) at the OIDC server: its keys and endpoints are found out, its signed tokens are verified here",
    schemes: ["https", "http"],
    added: true,
  })),
  address: optional(url({
    help:
      "Userinfo endpoint of the OIDC server, or with validate=true its introspection endpoint; issuer finds it out",
    schemes: ["https", "http"],
  })),
  jwksUri: optional(url({
    help: "Keys of the issuer, if they are on another host or port than the issuer",
    schemes: ["https", "http"],
    added: true,
  })),
  allowPlainHttp: ALLOW_PLAIN_HTTP,
  validate: flag({ help: "Ask the introspection endpoint, as an OAuth client", default: false }),
  clientId: optional(
    text({ name: "clientID", help: "Name of this client at the OIDC server, for validate and signIn" }),
  ),
  clientSecret: optional(secretText({ help: "Secret of this client, for validate and signIn" })),
  signIn: flag({
    help:
      "Have browsers sign in at the issuer as this client, whose redirect URI is <externalurl>/login/<method>/done",
    default: false,
    added: true,
  }),
  signInTitle: optional(
    text({ help: "What the button for that says; without it the issuer's host", added: true }),
  ),
  signInScope: list({
    help: "Scopes that are asked for then, openid among them",
    default: ["openid"],
    added: true,
  }),
  clientAuthentication: oneOf(["client_secret_post", "client_secret_basic", "private_key_jwt"], {
    help: "How this client logs in: secret in the body or in the header, or a signature by clientKey",
    default: "client_secret_post",
    added: true,
  }),
  clientKey: optional(path({
    help: "Private key of this client, PEM without password, for private_key_jwt",
    added: true,
  })),
  clientKeyId: optional(text({ help: "Name of that key at the OIDC server (kid)", added: true })),
  askAlways: flag({
    help: "Ask the OIDC server about verified tokens, too: for further claims, and whether they were revoked",
    default: false,
    added: true,
  }),
  cacheSeconds: integer({
    help: "How long an answer about a token is taken again, at most until the token ends; 0 asks each time",
    unit: "seconds",
    max: 86_400,
    default: 300,
    added: true,
  }),
  derivedLifetime: DERIVED_LIFETIME,
  identity: optional(
    text({ name: "identityAssign", help: 'Expression for the user\'s name, such as "UID="+email' }),
  ),
  identityTemplate: optional(text({
    help:
      "The user's name with claims between percent signs; with issuer and without other names CN=%sub%,O=%iss%",
    added: true,
  })),
  ...ASSIGNED,
  dnTemplate: optional(text({
    help: "Deprecated, see identityAssign: a name with %attribute placeholders; without either, UID=%email",
  })),
  showCertificate: SHOW_CERTIFICATE,
  opaqueTokens: optional(flag({
    help:
      "Ask about tokens that are no signed JWTs, which Keycloak does not make; default false with issuer, else true",
    added: true,
  })),
  requiredAudience: list({
    help: "Audiences (aud): the token must be for one of them",
    default: [],
    added: true,
  }),
  requiredClient: list({
    help: "Clients (client_id, azp): the token must have been issued to one of them",
    default: [],
    added: true,
  }),
  acceptAnyAudience: flag({
    help:
      "Take all tokens of the issuer, whomever they are for, in place of requiredAudience or requiredClient",
    default: false,
    added: true,
  }),
  requiredScope: list({
    help: "Scopes (scope, scp): the token must have all of them",
    default: [],
    added: true,
  }),
  requiredAcr: list({
    help: "Classes of authentication (acr): the user must have logged in by one of them",
    default: [],
    added: true,
  }),
  maxAuthAge: optional(integer({
    help: "How long ago the user may have logged in at the OIDC server (auth_time)",
    unit: "seconds",
    min: 1,
    added: true,
  })),
  capabilities: flag({
    help: "Limit sessions to what the token permits by scopes such as storage.read:/path (WLCG, SciTokens)",
    default: false,
    added: true,
  }),
  capabilitiesBase: optional(text({
    help: "Directory that the paths in such scopes start from; without it the root of the file system",
    added: true,
  })),
  certificateBound: flag({
    help:
      "Ask clients for a certificate, since tokens are bound to it (RFC 8705); browsers ask people for one",
    default: false,
    added: true,
  }),
  emailVerified: optional(flag({
    help:
      "Refuse users without email_verified; default true with issuer where the name is made of email, else false",
    added: true,
  })),
  groupsClaim: list({
    help:
      "Claims with the groups, such as realm_access.roles or eduperson_entitlement, in place of groupsAssign",
    default: [],
    added: true,
  }),
  groupsPrefix: optional(text({
    help: "What groups must begin with, which is left away: /hpc/ or urn:mace:example.org:group:",
    added: true,
  })),
  groupsMap: items(text({
    help: "Unix group for the group of this name; with any such key no other groups count",
    added: true,
  })),
  requiredGroups: list({
    help: "Groups, as groupsMap names them: the user must be in one of them",
    default: [],
    added: true,
  }),
};
