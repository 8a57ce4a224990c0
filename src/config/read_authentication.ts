import { resolve } from "node:path";
import { didYouMean } from "./did_you_mean.ts";
import type { KeyReader } from "./key_reader.ts";
import {
  AUTHENTICATION,
  METHOD,
  OAUTH,
  PASSWORD_FILE,
  SSH_KEY,
  UNITY,
  X509,
} from "./keys/authentication_keys.ts";
import { reason } from "./load_properties.ts";
import type {
  AssignmentsConfig,
  AuthenticationConfig,
  ExpressionConfig,
  MethodConfig,
  OAuthConfig,
  PasswordFileConfig,
  SshKeyConfig,
  UnityConfig,
} from "./service_config.ts";
import { readRegularFile } from "../model/regular_file.ts";

const PREFIX = AUTHENTICATION.prefix;

/** Class of a method that is named so and has none configured (authentication.md 1.2). */
const DEFAULT_CLASSES: ReadonlyMap<string, string> = new Map([
  ["PASSWORD", "FilebasedAuthenticator"],
  ["FILE", "FilebasedAuthenticator"],
  ["SSHKEY", "SSHKeyAuthenticator"],
  ["OAUTH", "OAuthAuthenticator"],
  ["UNITY", "UnitySAMLAuthenticator"],
  ["UNITY-PASSWORD", "UnitySAMLAuthenticator"],
  ["UNITY-OAUTH", "UnityOAuthAuthenticator"],
  ["X509", "X509Authenticator"],
  ["PAM", "PAMAuthenticator"],
]);

/** Reads the parameters of one method; `prefix` ends in a dot. */
type MethodReader = (
  reader: KeyReader,
  name: string,
  prefix: string,
) => MethodConfig | undefined | Promise<MethodConfig | undefined>;

const METHOD_READERS: ReadonlyMap<string, MethodReader> = new Map<string, MethodReader>([
  ["FilebasedAuthenticator", readPasswordFile],
  ["SSHKeyAuthenticator", readSshKey],
  ["OAuthAuthenticator", readOAuth],
  ["UnitySAMLAuthenticator", (...where) => readUnity("UnitySAMLAuthenticator", ...where)],
  ["UnityOAuthAuthenticator", (...where) => readUnity("UnityOAuthAuthenticator", ...where)],
  ["X509Authenticator", readX509],
]);

/** The methods of authentication, in order (specification 5). */
export async function readAuthentication(reader: KeyReader): Promise<AuthenticationConfig | undefined> {
  const keys = reader.read(AUTHENTICATION);
  if (keys === undefined) {
    for (const name of reader.namesBelow(PREFIX)) reader.skip(`${PREFIX}${name}.`);
    return undefined;
  }
  if (keys.order.length === 0) {
    const expected =
      "no method of authentication, so that every caller is anonymous; expected names such as PASSWORD";
    reader.warn(`${PREFIX}order`, expected);
  }
  const methods: MethodConfig[] = [];
  for (const name of keys.order) {
    const method = await readMethod(reader, name);
    if (method !== undefined) methods.push(method);
  }
  for (const name of reader.namesBelow(PREFIX)) {
    if (!keys.order.includes(name)) {
      reader.leave(`${PREFIX}${name}.`, `not used, ${name} is not in ${PREFIX}order`);
    }
  }
  return { methods, failOnMissingCredentials: keys.failOnMissingCredentials };
}

async function readMethod(reader: KeyReader, name: string): Promise<MethodConfig | undefined> {
  const prefix = `${PREFIX}${name}.`;
  const method = reader.read(METHOD, prefix);
  if (method === undefined) {
    reader.skip(prefix);
    return undefined;
  }
  const configured = method.class;
  const className = configured ?? DEFAULT_CLASSES.get(name);
  const readParameters = METHOD_READERS.get(className ?? "");
  if (readParameters !== undefined) return await readParameters(reader, name, prefix);
  const key = configured === undefined ? `${PREFIX}order` : `${prefix}class`;
  reader.error(key, className === undefined ? unnamed(name) : unknownClass(className), configured);
  reader.skip(prefix);
  return undefined;
}

function unnamed(name: string): string {
  const guess = didYouMean(name, DEFAULT_CLASSES.keys());
  const hint = guess === undefined ? "" : `, did you mean ${guess}?`;
  return `expected ${PREFIX}${name}.class too, since ${name} has no default class${hint}`;
}

function unknownClass(className: string): string {
  if (className === "PAMAuthenticator") {
    return "PAM is not supported, expected a password file (FilebasedAuthenticator) or an identity provider";
  }
  const guess = didYouMean(className, METHOD_READERS.keys());
  const hint = guess === undefined ? "" : `, did you mean ${guess}?`;
  return `expected one of the classes ${[...METHOD_READERS.keys()].join(", ")}${hint}`;
}

function readPasswordFile(reader: KeyReader, name: string, prefix: string): PasswordFileConfig | undefined {
  const keys = reader.read(PASSWORD_FILE, prefix);
  if (keys === undefined) return undefined;
  reader.expectFile(`${prefix}file`, keys.file);
  return { kind: "FilebasedAuthenticator", name, file: keys.file };
}

function readSshKey(
  reader: KeyReader,
  name: string,
  prefix: string,
): SshKeyConfig | undefined {
  const keys = reader.read(SSH_KEY, prefix);
  if (keys === undefined) return undefined;
  const { class: _, ...parameters } = keys;
  if (keys.file !== undefined) reader.expectFile(`${prefix}file`, keys.file);
  else if (!keys.useAuthorizedKeys) {
    const expected = `expected ${prefix}file too, there are no keys otherwise`;
    reader.error(`${prefix}useAuthorizedKeys`, expected, "false");
  }
  if (keys.legacyToken) {
    reader.warn(`${prefix}legacyToken`, "who has seen such a token can use it again, expected false", "true");
  }
  return { kind: "SSHKeyAuthenticator", name, ...parameters };
}

async function readOAuth(reader: KeyReader, name: string, prefix: string): Promise<OAuthConfig | undefined> {
  const keys = reader.read(OAUTH, prefix);
  if (keys === undefined) return undefined;
  const { validate, clientId, clientSecret, dnTemplate } = keys;
  const identity = await readExpression(reader, `${prefix}identityAssign`, keys.identity);
  if (keys.identity === undefined && dnTemplate === undefined) {
    const expected =
      `expected ${prefix}identityAssign too, an expression for the user's name such as "UID="+email`;
    reader.error(`${prefix}address`, expected);
  } else if (dnTemplate !== undefined) {
    reader.warn(`${prefix}dnTemplate`, `deprecated, expected ${prefix}identityAssign`, dnTemplate);
  }
  if (validate && (clientId === undefined || clientSecret === undefined)) {
    const missing = clientId === undefined ? "clientID" : "clientSecret";
    reader.error(`${prefix}validate`, `expected ${prefix}${missing} too`, "true");
  }
  return {
    kind: "OAuthAuthenticator",
    name,
    address: keys.address,
    introspection: validate && clientId !== undefined && clientSecret !== undefined
      ? { clientId, clientSecret }
      : undefined,
    assignments: { identity, ...await readAssigned(reader, prefix, keys) },
    dnTemplate,
    showCertificate: keys.showCertificate,
    requiredAudience: keys.requiredAudience,
    requiredClient: keys.requiredClient,
    requiredScope: keys.requiredScope,
    opaqueTokens: keys.opaqueTokens,
  };
}

async function readUnity(
  kind: UnityConfig["kind"],
  reader: KeyReader,
  name: string,
  prefix: string,
): Promise<UnityConfig | undefined> {
  const keys = reader.read(UNITY, prefix);
  if (keys === undefined) return undefined;
  const { address, validate, showCertificate } = keys;
  if (!validate) {
    reader.warn(
      `${prefix}validate`,
      "assertions are believed without a valid signature, expected true",
      "false",
    );
  }
  const assignments = { identity: undefined, ...await readAssigned(reader, prefix, keys) };
  return { kind, name, address, validate, assignments, showCertificate };
}

function readX509(reader: KeyReader, name: string, prefix: string): MethodConfig | undefined {
  return reader.read(X509, prefix) && { kind: "X509Authenticator", name };
}

async function readAssigned(
  reader: KeyReader,
  prefix: string,
  { uid, role, groups }: { readonly [K in "uid" | "role" | "groups"]: string | undefined },
): Promise<Omit<AssignmentsConfig, "identity">> {
  return {
    uid: await readExpression(reader, `${prefix}uidAssign`, uid),
    role: await readExpression(reader, `${prefix}roleAssign`, role),
    groups: await readExpression(reader, `${prefix}groupsAssign`, groups),
  };
}

/** The text of an expression, or with `@` the content of the file that follows (authentication.md 6.1). */
async function readExpression(
  reader: KeyReader,
  key: string,
  text: string | undefined,
): Promise<ExpressionConfig | undefined> {
  if (text === undefined) return undefined;
  if (!text.startsWith("@")) return { text, origin: reader.origin(key) };
  const file = resolve(reader.workingDirectory, text.slice(1).trim());
  reader.addSource(file);
  try {
    const content = new TextDecoder("utf-8", { fatal: true }).decode(await readRegularFile(file));
    return { text: content, origin: { file, line: 1, key } };
  } catch (error) {
    const why = error instanceof TypeError ? "it is not UTF-8" : reason(error);
    reader.error(key, `cannot read ${file}: ${why}`, text);
    return undefined;
  }
}
