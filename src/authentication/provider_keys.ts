import { resolve } from "node:path";
import { flag, integer, optional, text } from "../config/key.ts";
import type { KeyReader } from "../config/key_reader.ts";
import type { Place } from "../config/kind.ts";
import { reason } from "../config/load_properties.ts";
import type { Origin } from "../config/service_config.ts";
import { readRegularFile } from "../model/regular_file.ts";

/** Keys of all identity providers for user attributes. */
export const ASSIGNED = {
  uid: optional(text({ name: "uidAssign", help: "Expression for the Unix account" })),
  role: optional(
    text({ name: "roleAssign", help: "Expression for the role. If not set, user if an account is assigned" }),
  ),
  groups: optional(text({ name: "groupsAssign", help: "Expression for the groups" })),
  displayName: optional(text({
    name: "displayNameAssign",
    help:
      "Expression for the name that pages show beside the account. If not set: name, preferred_username, or a verified email",
    added: true,
  })),
};

/** See `requireHttps()`. */
export const ALLOW_PLAIN_HTTP = flag({
  help: "Allow an http:// URL of another machine; tokens and passwords then travel unencrypted",
  default: false,
  added: true,
});

/** Sends the server's certificate to the provider. */
export const SHOW_CERTIFICATE = flag({
  name: "doTLSAuthn",
  help: "Send the service's certificate to the identity provider",
  default: false,
});

/** Default lifetime in seconds of what is derived from a login whose source cannot look up users. */
export const DERIVED_S = 8 * 3600;

/** See `Authenticator.derivedLifetime`. */
export const DERIVED_LIFETIME = integer({
  help: "Maximum lifetime of browser sessions and tokens of this service from such a login; 0 disables both",
  unit: "seconds",
  max: 30 * 86_400,
  default: DERIVED_S,
  added: true,
});

/** Expressions for account, role and groups. */
export interface ExpressionConfig {
  readonly text: string;
  readonly origin: Origin;
}

/** Expressions of authentication.md 6, `@file` resolved. */
export interface AssignmentsConfig {
  readonly identity: ExpressionConfig | undefined;
  readonly uid: ExpressionConfig | undefined;
  readonly role: ExpressionConfig | undefined;
  readonly groups: ExpressionConfig | undefined;
  readonly displayName: ExpressionConfig | undefined;
}

/** Reads the expressions `<name>Assign`. */
export async function readAssignments(
  texts: { readonly [K in keyof AssignmentsConfig]: string | undefined },
  { reader, prefix }: Place,
): Promise<AssignmentsConfig> {
  return {
    identity: await readExpression(reader, `${prefix}identityAssign`, texts.identity),
    uid: await readExpression(reader, `${prefix}uidAssign`, texts.uid),
    role: await readExpression(reader, `${prefix}roleAssign`, texts.role),
    groups: await readExpression(reader, `${prefix}groupsAssign`, texts.groups),
    displayName: await readExpression(reader, `${prefix}displayNameAssign`, texts.displayName),
  };
}

/** Returns an expression's text, or the content of `@file` (authentication.md 6.1). */
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
