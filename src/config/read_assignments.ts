import { resolve } from "node:path";
import { type Item, optional, text } from "./key.ts";
import type { KeyReader } from "./key_reader.ts";
import { reason } from "./properties.ts";
import type { Origin } from "./service_config.ts";
import { readRegularFile } from "../model/regular_file.ts";

/** Keys of identity providers and attribute sources for user attributes. */
export const ASSIGNED = {
  uid: optional(text({ name: "uidAssign", help: "Expression for the Unix account" })),
  role: optional(
    text({ name: "roleAssign", help: "Expression for the role. If not set, user if an account is assigned" }),
  ),
  groups: optional(text({ name: "groupsAssign", help: "Expression for the groups" })),
};

/** Key of identity providers for the name of a user. */
export const DISPLAY_NAME = {
  displayName: optional(text({
    name: "displayNameAssign",
    help:
      "Expression for the name that pages show beside the account. If not set: name, preferred_username, or a verified email",
    added: true,
  })),
};

/** Expressions for account, role and groups. */
export interface ExpressionConfig {
  readonly text: string;
  readonly origin: Origin;
}

/** Expressions of credentials.md 6, `@file` resolved. */
export interface AssignmentsConfig {
  readonly identity: ExpressionConfig | undefined;
  readonly uid: ExpressionConfig | undefined;
  readonly role: ExpressionConfig | undefined;
  readonly groups: ExpressionConfig | undefined;
  readonly displayName?: ExpressionConfig | undefined;
  readonly others?: readonly Item<ExpressionConfig>[]; // attributes by name, such as `uftpd.HPC.rateLimit`
}

/** Reads the expressions `<name>Assign`. */
export async function readAssignments(
  texts: Readonly<Record<"identity" | "uid" | "role" | "groups", string | undefined>> & {
    readonly displayName?: string | undefined;
  },
  { reader, prefix }: { readonly reader: KeyReader; readonly prefix: string },
): Promise<AssignmentsConfig> {
  return {
    identity: await readExpression(reader, `${prefix}identityAssign`, texts.identity),
    uid: await readExpression(reader, `${prefix}uidAssign`, texts.uid),
    role: await readExpression(reader, `${prefix}roleAssign`, texts.role),
    groups: await readExpression(reader, `${prefix}groupsAssign`, texts.groups),
    displayName: await readExpression(reader, `${prefix}displayNameAssign`, texts.displayName),
  };
}

/** Reads the expressions `<key>.<name>`. */
export async function readOthers(
  texts: readonly Item<string>[],
  key: string,
  reader: KeyReader,
): Promise<readonly Item<ExpressionConfig>[]> {
  const read = await Promise.all(texts.map(async ({ name, value: text }) => {
    const value = await readExpression(reader, `${key}.${name}`, text);
    return value === undefined ? [] : [{ name, value }];
  }));
  return read.flat();
}

/** Returns an expression's text, or the content of `@file` (credentials.md 6.1). */
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
