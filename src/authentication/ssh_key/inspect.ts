import type { KindConfig } from "../../config/service_config.ts";
import type { KindInspection, KnownUser } from "../../config/kind.ts";
import { InvalidName } from "../../model/distinguished_name.ts";
import { inspectFile, readRegularFile } from "../../model/regular_file.ts";
import { type Diagnostic, InvalidFile } from "../../model/diagnostic.ts";
import { parseAuthorities } from "./certificate/authorities_file.ts";
import { readRevokedKeys } from "./certificate/revoked_keys.ts";
import { checkTemplate } from "./dn_template.ts";
import { parseKeysFile } from "./keys_file.ts";
import { UnusableKey } from "./wire_reader.ts";

interface InspectedKeys extends KindConfig {
  readonly file: string | undefined;
  readonly dnTemplate: string;
  readonly certificateAuthorities: string | undefined;
  readonly revokedKeys: string | undefined;
}

/** Checks keys, authorities, revocation list and template for the operator. */
export async function inspectKeys(
  { name, file, dnTemplate, certificateAuthorities, revokedKeys }: InspectedKeys,
): Promise<KindInspection> {
  const template = [
    ...inspectTemplate(name, dnTemplate),
    ...await inspectAuthorities(certificateAuthorities),
    ...await inspectRevoked(revokedKeys),
  ];
  if (file === undefined) return { diagnostics: template };
  const users: KnownUser[] = [];
  const diagnostics = await inspectFile(file, async (text) => {
    const { keys, diagnostics } = await parseKeysFile(text, file);
    for (const named of keys.values()) users.push(...named.map(({ dn }) => ({ dn, file })));
    return diagnostics;
  });
  return { diagnostics: [...template, ...diagnostics], users };
}

async function inspectAuthorities(file: string | undefined): Promise<readonly Diagnostic[]> {
  if (file === undefined) return [];
  return await inspectFile(file, async (text) => (await parseAuthorities(text, file)).diagnostics);
}

/** A partly unreadable list keeps the service from starting. */
async function inspectRevoked(file: string | undefined): Promise<readonly Diagnostic[]> {
  if (file === undefined) return [];
  try {
    await readRevokedKeys(await readRegularFile(file));
    return [];
  } catch (error) {
    if (error instanceof InvalidFile) return error.diagnostics;
    if (error instanceof UnusableKey) return [{ severity: "error", file, expected: error.message }];
    return []; // reported with other missing files
  }
}

function inspectTemplate(method: string, template: string): readonly Diagnostic[] {
  try {
    checkTemplate(template);
    return [];
  } catch (error) {
    if (!(error instanceof InvalidName)) throw error;
    const key = `container.security.rest.authentication.${method}.dnTemplate`;
    return [{ severity: "error", file: "configuration", key, found: template, expected: error.message }];
  }
}
