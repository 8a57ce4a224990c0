import type { KindInspection, KnownUser } from "../../config/kind.ts";
import type { KindConfig } from "../../config/kind_config.ts";
import { InvalidName } from "../../model/distinguished_name.ts";
import { inspectFile } from "../../model/inspect_file.ts";
import type { Problem } from "../../model/problem.ts";
import { checkTemplate } from "./dn_template.ts";
import { parseKeysFile } from "./keys_file.ts";

/** Looks for an operator through the keys file, and at the template for the names of other users. */
export async function inspectKeys(
  { name, file, dnTemplate }: KindConfig & { readonly file: string | undefined; readonly dnTemplate: string },
): Promise<KindInspection> {
  const template = inspectTemplate(name, dnTemplate);
  if (file === undefined) return { problems: template };
  const users: KnownUser[] = [];
  const problems = await inspectFile(file, async (text) => {
    const { keys, problems } = await parseKeysFile(text, file);
    for (const named of keys.values()) users.push(...named.map(({ dn }) => ({ dn, file })));
    return problems;
  });
  return { problems: [...template, ...problems], users };
}

function inspectTemplate(method: string, template: string): readonly Problem[] {
  try {
    checkTemplate(template);
    return [];
  } catch (error) {
    if (!(error instanceof InvalidName)) throw error;
    const key = `container.security.rest.authentication.${method}.dnTemplate`;
    return [{ severity: "error", file: "configuration", key, found: template, expected: error.message }];
  }
}
