import { parsePasswordFile } from "../authentication/password/password_table.ts";
import { parseKeysFile } from "../authentication/ssh_key/keys_file.ts";
import { loadConfiguration } from "../config/load.ts";
import type { ServiceConfig } from "../config/service_config.ts";
import { loadTlsMaterial } from "../config/tls/load_tls_material.ts";
import { loadTruststore } from "../config/tls/truststore.ts";
import { InvalidFile, type Problem } from "../model/problem.ts";
import type { Setup } from "../rooms/supervisor.ts";

/** All that can be said about a configuration without starting anything. */
export interface Inspection {
  /** Absent if there is an error among the problems: the service would not start. */
  readonly setup?: Setup;
  /** In the order of the files, the main file first. */
  readonly problems: readonly Problem[];
  /** Files and folders of certificates: look again if one of them changes. */
  readonly certificateFiles: readonly string[];
}

/**
 * Reads the configuration and every file that it names, and looks across them. `check` shows the outcome, `serve` and a
 * reload start from it, so that they cannot judge differently.
 */
export async function inspect(mainFile: string): Promise<Inspection> {
  const { config, problems } = await loadConfiguration(mainFile, {
    environment: (name) => Deno.env.get(name),
  });
  if (config === undefined) return { problems, certificateFiles: [] };
  const now = Date.now();
  const tls = await loadTlsMaterial(config, now);
  const issuers = config.trustedAssertionIssuers === undefined
    ? { anchors: [], problems: [], files: [] }
    : await loadTruststore(config.trustedAssertionIssuers, now);
  const all = [...problems, ...tls.problems, ...issuers.problems, ...await inspectDataFiles(config)];
  const certificateFiles = [...tls.files, ...issuers.files];
  if (all.some(({ severity }) => severity === "error")) return { problems: all, certificateFiles };
  const setup = { config, material: tls.material, assertionIssuers: issuers.anchors };
  return { setup, problems: all, certificateFiles };
}

async function inspectDataFiles({ authentication }: ServiceConfig): Promise<readonly Problem[]> {
  const found: Promise<readonly Problem[]>[] = [];
  for (const method of authentication.methods) {
    if (method.kind === "FilebasedAuthenticator") {
      found.push(
        inspectFile(method.file, async (text, file) => (await parsePasswordFile(text, file)).problems),
      );
      found.push(inspectMode(method.file));
    } else if (method.kind === "SSHKeyAuthenticator" && method.file !== undefined) {
      found.push(inspectFile(method.file, (text, file) => parseKeysFile(text, file).problems));
    }
  }
  return (await Promise.all(found)).flat();
}

async function inspectFile(
  file: string,
  problemsOf: (text: string, file: string) => readonly Problem[] | Promise<readonly Problem[]>,
): Promise<readonly Problem[]> {
  try {
    return await problemsOf(await Deno.readTextFile(file), file);
  } catch (error) {
    if (error instanceof InvalidFile) return error.problems;
    const reason = error instanceof Error ? error.message : String(error);
    return [{ severity: "error", file, expected: `cannot be read: ${reason}` }];
  }
}

/** Files with password hashes are nobody else's business. */
async function inspectMode(file: string): Promise<readonly Problem[]> {
  const { mode } = await Deno.stat(file).catch(() => ({ mode: null }));
  if (mode === null || (mode & 0o007) === 0) return [];
  const found = `mode ${(mode & 0o777).toString(8).padStart(4, "0")}`;
  return [{
    severity: "warning",
    file,
    found,
    expected: "holds secrets, expected no access for others (chmod o-rwx)",
  }];
}
