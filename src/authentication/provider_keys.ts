import { resolve } from "node:path";
import { flag, integer, optional, text } from "../config/key.ts";
import type { KeyReader } from "../config/key_reader.ts";
import type { Place } from "../config/kind.ts";
import { reason } from "../config/load_properties.ts";
import type { Origin } from "../config/service_config.ts";
import { readRegularFile } from "../model/regular_file.ts";

/** Keys of all kinds that ask an identity provider: what its answer makes of a user. */
export const ASSIGNED = {
  uid: optional(text({ name: "uidAssign", help: "Expression for the Unix account" })),
  role: optional(
    text({ name: "roleAssign", help: "Expression for the role. If not set, user if an account is assigned" }),
  ),
  groups: optional(text({ name: "groupsAssign", help: "Expression for the groups" })),
};

/** See `requireHttps()`. */
export const ALLOW_PLAIN_HTTP = flag({
  help: "Allow an http:// URL of another machine; tokens and passwords then travel unencrypted",
  default: false,
  added: true,
});

/** Whether this service shows its own certificate to the provider. */
export const SHOW_CERTIFICATE = flag({
  name: "doTLSAuthn",
  help: "Send the service's certificate to the identity provider",
  default: false,
});

/** How long what is derived from a login may last whose source cannot be asked about the user, if nothing else is said, in seconds. */
export const DERIVED_S = 8 * 3600;

/** See `Authenticator.derivedLifetime`. */
export const DERIVED_LIFETIME = integer({
  help: "Maximum lifetime of browser sessions and tokens of this service from such a login; 0 disables both",
  unit: "seconds",
  max: 30 * 86_400,
  default: DERIVED_S,
  added: true,
});

/** How account, role and groups are made of what a provider says. */
export interface ExpressionConfig {
  readonly text: string;
  /** Where the text stands, for messages. */
  readonly origin: Origin;
}

/** Expression texts of authentication.md 6; an `@file` was replaced by its content. */
export interface AssignmentsConfig {
  readonly identity: ExpressionConfig | undefined;
  readonly uid: ExpressionConfig | undefined;
  readonly role: ExpressionConfig | undefined;
  readonly groups: ExpressionConfig | undefined;
}

/** Reads expressions by the keys `<name>Assign`. */
export async function readAssignments(
  texts: { readonly [K in keyof AssignmentsConfig]: string | undefined },
  { reader, prefix }: Place,
): Promise<AssignmentsConfig> {
  return {
    identity: await readExpression(reader, `${prefix}identityAssign`, texts.identity),
    uid: await readExpression(reader, `${prefix}uidAssign`, texts.uid),
    role: await readExpression(reader, `${prefix}roleAssign`, texts.role),
    groups: await readExpression(reader, `${prefix}groupsAssign`, texts.groups),
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
