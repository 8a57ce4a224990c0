import { createPrivateKey } from "node:crypto";
import {
  flag,
  type Infer,
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
import type { ConfigRead, Place } from "../../config/kind.ts";
import { isUserAccount } from "../../model/account_name.ts";
import { readRegularFile } from "../../model/regular_file.ts";
import { requireHttps } from "../../config/require_https.ts";
import { ALLOW_PLAIN_HTTP, ASSIGNED, readAssignments, SHOW_CERTIFICATE } from "../provider_keys.ts";
import { algorithmOf, type ClientLogin } from "./client_login.ts";
import { templateProblem } from "./identity_template.ts";

/** What is configured of it. */
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
    text({ name: "clientID", help: "Name of this client at the OIDC server, for validate=true" }),
  ),
  clientSecret: optional(secretText({ help: "Secret of this client, for validate=true" })),
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

/** The identity provider's address, how it is asked, and what its answer must name and makes of a user. */
export type OAuthConfig = ConfigRead<typeof read>;

/** Names of users where nothing is said about them: as in the Java service, and with an issuer. */
const [NAME_BY_EMAIL, NAME_BY_ISSUER] = ["UID=%email", "CN=%sub%,O=%iss%"];

/** Completes and checks the values. */
export async function read(values: Infer<typeof KEYS>, place: Place) {
  const {
    validate: _,
    clientId: _id,
    clientSecret: _secret,
    identity,
    uid,
    role,
    groups,
    allowPlainHttp,
    ...given
  } = values;
  const { clientAuthentication: _how, clientKey: _key, clientKeyId: _kid, ...rest } = given;
  const { prefix } = place;
  for (const key of ["issuer", "address", "jwksUri"] as const) {
    if (rest[key] !== undefined) requireHttps(place, key, rest[key], allowPlainHttp);
  }
  checkProvider(values, place);
  checkWhose(values, place);
  const assignments = await readAssignments({ identity, uid, role, groups }, place);
  checkGroups(values, place);
  checkCapabilities(values, place);
  const introspection = await readClientLogin(values, place);
  const naming = readNaming(values, place);
  const byEmail = namesEmail(
    assignments.identity?.text ?? naming.identityTemplate ?? naming.dnTemplate ?? "",
  );
  return {
    ...rest,
    ...naming,
    prefix,
    opaqueTokens: rest.opaqueTokens ?? rest.issuer === undefined,
    emailVerified: rest.emailVerified ?? (rest.issuer !== undefined && byEmail),
    introspection,
    assignments,
  };
}

/** How the provider is found, and how it is asked. */
function checkProvider(values: Infer<typeof KEYS>, { reader, prefix }: Place): void {
  const { issuer, address, jwksUri } = values;
  if (issuer === undefined && address === undefined) {
    reader.error(`${prefix}address`, `missing, expected ${prefix}issuer, or an endpoint of the OIDC server`);
  }
  if (issuer !== undefined && new URL(issuer).search !== "") {
    reader.error(`${prefix}issuer`, "expected a URL without query", issuer);
  }
  for (const [key, given] of [["jwksUri", jwksUri !== undefined], ["askAlways", values.askAlways]] as const) {
    if (given && issuer === undefined) reader.error(`${prefix}${key}`, `expected ${prefix}issuer too`);
  }
}

/** How we are the provider's client, if we are. */
async function readClientLogin(
  { validate, clientId, clientSecret, clientAuthentication, clientKey, clientKeyId }: Infer<typeof KEYS>,
  { reader, prefix }: Place,
): Promise<ClientLogin | undefined> {
  const bySignature = clientAuthentication === "private_key_jwt";
  const unused = Object.entries(bySignature ? { clientSecret } : { clientKey, clientKeyId });
  for (const [name, value] of unused) {
    if (value === undefined) continue;
    reader.warn(`${prefix}${name}`, `not used with clientAuthentication=${clientAuthentication}`);
  }
  if (!validate) return undefined;
  const secret = bySignature ? clientKey : clientSecret;
  if (clientId === undefined || secret === undefined) {
    const missing = clientId === undefined ? "clientID" : bySignature ? "clientKey" : "clientSecret";
    reader.error(`${prefix}validate`, `expected ${prefix}${missing} too`, "true");
    return undefined;
  }
  if (!bySignature) {
    const inHeader = clientAuthentication === "client_secret_basic";
    return { clientId, clientSecret: secret, ...(inHeader && { inHeader }) };
  }
  const key = await readClientKey(secret, { reader, prefix });
  return key === undefined ? undefined : { clientId, key, keyId: clientKeyId };
}

/** The key by which this client signs, as PEM. */
async function readClientKey(
  file: string,
  { reader, prefix }: Pick<Place, "reader" | "prefix">,
): Promise<string | undefined> {
  reader.addSource(file);
  try {
    const pem = new TextDecoder().decode(await readRegularFile(file));
    if (algorithmOf(createPrivateKey(pem)) !== undefined) return pem;
    reader.error(
      `${prefix}clientKey`,
      "expected an RSA, an Ed25519 or an EC key (P-256, P-384, P-521)",
      file,
    );
  } catch (error) {
    const why = error instanceof Deno.errors.NotFound ? "there is no such file" : "it cannot be read";
    reader.error(`${prefix}clientKey`, `${why}, expected a private key, PEM without password`, file);
  }
  return undefined;
}

/** Whose tokens count: with an issuer it must be said, older configurations are told. */
function checkWhose(values: Infer<typeof KEYS>, { reader, prefix }: Place): void {
  const { issuer, requiredAudience, requiredClient, acceptAnyAudience } = values;
  const said = requiredAudience.length > 0 || requiredClient.length > 0;
  if (said && acceptAnyAudience) {
    reader.error(
      `${prefix}acceptAnyAudience`,
      "expected either this or requiredAudience and requiredClient",
      "true",
    );
  }
  if (said || acceptAnyAudience) return;
  const expected =
    `tokens that others got from this provider log in here, expected ${prefix}requiredAudience, ` +
    `${prefix}requiredClient, or ${prefix}acceptAnyAudience=true if that is meant`;
  if (issuer !== undefined) reader.error(`${prefix}issuer`, expected, issuer);
  else reader.warn(`${prefix}address`, expected);
}

/** How groups are taken from claims. */
function checkGroups(values: Infer<typeof KEYS>, { reader, prefix }: Place): void {
  const { groups, groupsClaim, groupsPrefix, groupsMap, requiredGroups } = values;
  if (groups !== undefined && groupsClaim.length > 0) {
    reader.error(`${prefix}groupsClaim`, `expected either this or ${prefix}groupsAssign`);
  }
  for (const { name, value } of groupsMap) {
    if (isUserAccount(value)) continue;
    reader.error(`${prefix}groupsMap.${name}`, "expected the name of a Unix group", value);
  }
  if (groupsClaim.length > 0) return;
  const [mapped] = groupsMap;
  const given = [
    ...(groupsPrefix === undefined ? [] : ["groupsPrefix"]),
    ...(requiredGroups.length === 0 ? [] : ["requiredGroups"]),
    ...(mapped === undefined ? [] : [`groupsMap.${mapped.name}`]),
  ];
  for (const key of given) reader.error(prefix + key, `expected ${prefix}groupsClaim too`);
}

/** What the paths in scopes start from. */
function checkCapabilities(
  { capabilities, capabilitiesBase: base }: Infer<typeof KEYS>,
  { reader, prefix }: Place,
): void {
  if (base === undefined) return;
  if (!capabilities) reader.error(`${prefix}capabilitiesBase`, `expected ${prefix}capabilities=true too`);
  if (!/^(?:\/[^/*?[\]:%]+)+$/.test(base) || /\/\.{1,2}(?:\/|$)/.test(base)) {
    const expected = "expected an absolute path without last slash, wildcards and colons";
    reader.error(`${prefix}capabilitiesBase`, expected, base);
  }
}

/** Which of the ways to name users is used; each excludes the others, but for the two of the Java service. */
function readNaming(
  { issuer, identity, identityTemplate, dnTemplate }: Infer<typeof KEYS>,
  { reader, prefix }: Place,
): { readonly identityTemplate: string | undefined; readonly dnTemplate: string | undefined } {
  if (dnTemplate !== undefined) {
    reader.warn(`${prefix}dnTemplate`, `deprecated, expected ${prefix}identityAssign`, dnTemplate);
  }
  if (identityTemplate !== undefined && (identity !== undefined || dnTemplate !== undefined)) {
    const other = identity === undefined ? "dnTemplate" : "identityAssign";
    reader.error(`${prefix}identityTemplate`, `expected either this or ${prefix}${other}`, identityTemplate);
  }
  const problem = identityTemplate === undefined ? undefined : templateProblem(identityTemplate);
  if (problem !== undefined) reader.error(`${prefix}identityTemplate`, problem, identityTemplate);
  if (identity !== undefined || identityTemplate !== undefined || dnTemplate !== undefined) {
    return { identityTemplate, dnTemplate: identityTemplate === undefined ? dnTemplate : undefined };
  }
  if (issuer !== undefined) return { identityTemplate: NAME_BY_ISSUER, dnTemplate: undefined };
  const expected =
    `users are known by the e-mail address that the server tells, expected ${prefix}identityAssign="UID="+email`;
  reader.warn(`${prefix}address`, expected);
  return { identityTemplate: undefined, dnTemplate: NAME_BY_EMAIL };
}

/** Whether users are named by their e-mail address. */
function namesEmail(naming: string): boolean {
  return /\bemail\b/.test(naming);
}
