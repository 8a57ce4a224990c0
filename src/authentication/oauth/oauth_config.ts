import { createPrivateKey } from "node:crypto";
import {
  flag,
  type Infer,
  items,
  list,
  oneOf,
  optional,
  path,
  seconds,
  secretText,
  text,
  unixGroups,
  url,
} from "../../config/key.ts";
import { ASSIGNED, DISPLAY_NAME, readAssignments } from "../../config/read_assignments.ts";
import {
  ALLOW_PLAIN_HTTP,
  DERIVED_LIFETIME,
  SHOW_CERTIFICATE,
} from "../../config/keys/authentication_keys.ts";
import { type ConfigRead, type Place, requireHttps } from "../../config/kind.ts";
import { readRegularFile } from "../../model/regular_file.ts";
import { algorithmsOf, USABLE_KEYS } from "../../model/trust/certificate_facts.ts";
import type { ClientLogin } from "./client_login.ts";
import { templateDiagnostic } from "../../model/name_template.ts";

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
      "Userinfo endpoint of the identity provider, or its introspection endpoint if validate=true. Not needed with issuer",
    schemes: ["https", "http"],
  })),
  jwksUri: optional(url({
    help: "JWKS URL, if it is on another host or port than the issuer",
    schemes: ["https", "http"],
    added: true,
  })),
  allowPlainHttp: ALLOW_PLAIN_HTTP,
  validate: flag({ help: "Use the introspection endpoint, as an OAuth client", default: false }),
  clientId: optional(text({ name: "clientID", help: "OAuth client id, for validate and signIn" })),
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
  clientKeyId: optional(text({ help: "Key id (kid) of clientKey at the identity provider", added: true })),
  askAlways: flag({
    help:
      "Ask the identity provider about verified tokens as well, to get further claims and detect revoked tokens",
    default: false,
    added: true,
  }),
  cacheSeconds: seconds({
    help: "Cache time for answers about a token, at most until the token expires; 0 disables the cache",
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
      "Ask the identity provider about tokens that are not signed JWTs (Keycloak does not issue such tokens); default false with issuer, else true",
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
  maxAuthAge: optional(seconds({
    help:
      "Maximum age of the login at the identity provider (auth_time), also for browser sessions and tokens of this service",
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
      "Reject users without email_verified; default true if issuer is set and the name, account, role or groups come from email, else false",
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
  groupsMap: items(unixGroups({
    help:
      "Unix groups for the group with this name. If any such key is set, the service ignores all other groups",
    added: true,
  })),
  requiredGroups: list({
    help: "Groups (after groupsMap), one of which the user must be in",
    default: [],
    added: true,
  }),
};

type Values = Infer<typeof KEYS>;

export type OAuthConfig = ConfigRead<typeof read>;

/** Default names: of the Java service, and with an issuer. */
const [NAME_BY_EMAIL, NAME_BY_ISSUER] = ["UID=%email", "CN=%sub%,O=%iss%"];

/** Completes and checks the values. */
export async function read(values: Values, place: Place) {
  const {
    validate: _,
    clientId: _id,
    clientSecret: _secret,
    identity,
    uid,
    role,
    groups,
    displayName,
    allowPlainHttp,
    clientAuthentication: _how,
    clientKey: _key,
    clientKeyId: _kid,
    signInTitle,
    signInScope,
    ...rest
  } = values;
  const { reader, prefix } = place;
  for (const key of ["issuer", "address", "jwksUri"] as const) {
    if (rest[key] !== undefined) requireHttps(place, key, rest[key], allowPlainHttp);
  }
  checkProvider(values, place);
  checkAudience(values, place);
  const assignments = await readAssignments({ identity, uid, role, groups, displayName }, place);
  checkGroups(values, place);
  checkCapabilities(values, place);
  const client = await readClientLogin(values, place);
  const naming = readNaming(values, place);
  const named = assignments.identity?.text ?? naming.identityTemplate ?? naming.dnTemplate ?? "";
  const granted = [assignments.uid, assignments.role, assignments.groups].map((each) => each?.text ?? "");
  const byEmail = /\bemail\b/.test(named) ||
    granted.some((text) => /\bemail\b/.test(text) && !/\bemail_verified\b/.test(text));
  if (rest.issuer === undefined && /\biss\b/.test(named)) {
    reader.warn(
      `${prefix}address`,
      `nobody verifies the iss that users are named by: this provider could name users of others, expected ${prefix}issuer`,
    );
  }
  return {
    ...rest,
    ...naming,
    prefix,
    opaqueTokens: rest.opaqueTokens ?? rest.issuer === undefined,
    emailVerified: rest.emailVerified ?? (rest.issuer !== undefined && byEmail),
    introspection: values.validate ? client : undefined,
    signIn: values.signIn && client ? { client, title: signInTitle, scopes: signInScope } : undefined,
    assignments,
  };
}

function checkProvider(values: Values, { reader, prefix }: Place): void {
  const { issuer, address, jwksUri } = values;
  if (issuer === undefined && address === undefined) {
    reader.error(
      `${prefix}address`,
      `missing, expected ${prefix}issuer, or an endpoint of the identity provider`,
    );
  }
  if (issuer !== undefined && new URL(issuer).search !== "") {
    reader.error(`${prefix}issuer`, "expected a URL without query", issuer);
  }
  const needing = { jwksUri: jwksUri !== undefined, askAlways: values.askAlways, signIn: values.signIn };
  for (const [key, given] of Object.entries(needing)) {
    if (given && issuer === undefined) reader.error(`${prefix}${key}`, `expected ${prefix}issuer too`);
  }
}

async function readClientLogin(
  { validate, signIn, signInScope, clientId, clientSecret, clientAuthentication, clientKey, clientKeyId }:
    Values,
  { reader, prefix }: Place,
): Promise<ClientLogin | undefined> {
  const bySignature = clientAuthentication === "private_key_jwt";
  const unused = Object.entries(bySignature ? { clientSecret } : { clientKey, clientKeyId });
  for (const [name, value] of unused) {
    if (value === undefined) continue;
    reader.warn(`${prefix}${name}`, `not used with clientAuthentication=${clientAuthentication}`);
  }
  if (!validate && !signIn) return undefined;
  if (signIn && !signInScope.includes("openid")) {
    reader.error(`${prefix}signInScope`, "expected openid among the scopes", signInScope.join(" "));
  }
  const secret = bySignature ? clientKey : clientSecret;
  if (clientId === undefined || secret === undefined) {
    const missing = clientId === undefined ? "clientID" : bySignature ? "clientKey" : "clientSecret";
    reader.error(`${prefix}${validate ? "validate" : "signIn"}`, `expected ${prefix}${missing} too`, "true");
    return undefined;
  }
  if (!bySignature) {
    return { clientId, clientSecret: secret, inHeader: clientAuthentication === "client_secret_basic" };
  }
  const key = await readClientKey(secret, { reader, prefix });
  return key === undefined ? undefined : { clientId, key, keyId: clientKeyId };
}

async function readClientKey(
  file: string,
  { reader, prefix }: Pick<Place, "reader" | "prefix">,
): Promise<string | undefined> {
  reader.addSource(file);
  try {
    const pem = new TextDecoder().decode(await readRegularFile(file));
    if (algorithmsOf(createPrivateKey(pem)).length > 0) return pem;
    reader.error(`${prefix}clientKey`, `expected ${USABLE_KEYS}`, file);
  } catch (error) {
    const why = error instanceof Deno.errors.NotFound ? "there is no such file" : "it cannot be read";
    reader.error(`${prefix}clientKey`, `${why}, expected a private key, PEM without password`, file);
  }
  return undefined;
}

/** Requires an audience or client with an issuer; older configurations get a warning. */
function checkAudience(values: Values, { reader, prefix }: Place): void {
  const { issuer, requiredAudience, requiredClient, acceptAnyAudience } = values;
  const isRestricted = requiredAudience.length > 0 || requiredClient.length > 0;
  if (isRestricted && acceptAnyAudience) {
    reader.error(
      `${prefix}acceptAnyAudience`,
      "expected either this or requiredAudience and requiredClient",
      "true",
    );
  }
  if (isRestricted) return checkOpaque(values, { reader, prefix });
  if (acceptAnyAudience) return;
  const expected =
    `tokens that others got from this provider log in here, expected ${prefix}requiredAudience, ` +
    `${prefix}requiredClient, or ${prefix}acceptAnyAudience=true if that is meant`;
  if (issuer !== undefined) reader.error(`${prefix}issuer`, expected, issuer);
  else reader.warn(`${prefix}address`, expected);
}

/** Warns if opaque tokens cannot meet requirements, since userinfo omits their audience. */
function checkOpaque(
  { issuer, opaqueTokens, validate, requiredAudience }: Values,
  { reader, prefix }: Pick<Place, "reader" | "prefix">,
): void {
  if (validate || !(opaqueTokens ?? issuer === undefined)) return;
  const key = `${prefix}${requiredAudience.length > 0 ? "requiredAudience" : "requiredClient"}`;
  reader.warn(
    key,
    "opaque tokens are refused with it, unless the userinfo endpoint says for whom they are, expected " +
      `${prefix}opaqueTokens=false where tokens are signed, else ${prefix}validate=true`,
  );
}

function checkGroups(values: Values, { reader, prefix }: Place): void {
  const { groups, groupsClaim, groupsPrefix, groupsMap, requiredGroups } = values;
  if (groups !== undefined && groupsClaim.length > 0) {
    reader.error(`${prefix}groupsClaim`, `expected either this or ${prefix}groupsAssign`);
  }
  if (groupsClaim.length > 0) return;
  const [mapped] = groupsMap;
  const needing = { groupsPrefix, requiredGroups: requiredGroups[0], [`groupsMap.${mapped?.name}`]: mapped };
  for (const [key, given] of Object.entries(needing)) {
    if (given !== undefined) reader.error(prefix + key, `expected ${prefix}groupsClaim too`);
  }
}

function checkCapabilities(
  { capabilities, capabilitiesBase: base }: Values,
  { reader, prefix }: Place,
): void {
  if (base === undefined) return;
  if (!capabilities) reader.error(`${prefix}capabilitiesBase`, `expected ${prefix}capabilities=true too`);
  if (!/^(?:\/[^/*?[\]:%]+)+$/.test(base) || /\/\.{1,2}(?:\/|$)/.test(base)) {
    const expected = "expected an absolute path without last slash, wildcards and colons";
    reader.error(`${prefix}capabilitiesBase`, expected, base);
  }
}

/** Selects the naming scheme; only the Java service's two may be combined. */
function readNaming(
  { issuer, identity, identityTemplate, dnTemplate }: Values,
  { reader, prefix }: Place,
): { readonly identityTemplate: string | undefined; readonly dnTemplate: string | undefined } {
  if (dnTemplate !== undefined) {
    reader.warn(`${prefix}dnTemplate`, `deprecated, expected ${prefix}identityAssign`, dnTemplate);
  }
  if (identityTemplate !== undefined && (identity !== undefined || dnTemplate !== undefined)) {
    const other = identity === undefined ? "dnTemplate" : "identityAssign";
    reader.error(`${prefix}identityTemplate`, `expected either this or ${prefix}${other}`, identityTemplate);
  }
  const diagnostic = identityTemplate === undefined ? undefined : templateDiagnostic(identityTemplate, "sub");
  if (diagnostic !== undefined) reader.error(`${prefix}identityTemplate`, diagnostic, identityTemplate);
  if (identity !== undefined || identityTemplate !== undefined || dnTemplate !== undefined) {
    return { identityTemplate, dnTemplate: identityTemplate === undefined ? dnTemplate : undefined };
  }
  if (issuer !== undefined) return { identityTemplate: NAME_BY_ISSUER, dnTemplate: undefined };
  const expected =
    `users are known by the e-mail address that the server tells, expected ${prefix}identityAssign="UID="+email`;
  reader.warn(`${prefix}address`, expected);
  return { identityTemplate: undefined, dnTemplate: NAME_BY_EMAIL };
}
