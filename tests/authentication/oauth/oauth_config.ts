import type { OAuthConfig } from "../../../src/authentication/oauth/oauth_config.ts";
import { assignments } from "../remote_subject.ts";

/** What a method has of whose key nothing is written but an address. */
export const OAUTH_CONFIG: OAuthConfig = {
  kind: "OAuthAuthenticator",
  name: "SUBJECT",
  prefix: "container.security.rest.authentication.SUBJECT.",
  issuer: undefined,
  jwksUri: undefined,
  address: "https://localhost/",
  introspection: undefined,
  askAlways: false,
  cacheSeconds: 300,
  assignments: assignments({}),
  identityTemplate: undefined,
  dnTemplate: undefined,
  showCertificate: false,
  requiredAudience: [],
  requiredClient: [],
  acceptAnyAudience: false,
  requiredScope: [],
  capabilities: false,
  capabilitiesBase: undefined,
  certificateBound: false,
  requiredAcr: [],
  maxAuthAge: undefined,
  emailVerified: false,
  opaqueTokens: true,
  groupsClaim: [],
  groupsPrefix: undefined,
  groupsMap: [],
  requiredGroups: [],
};
