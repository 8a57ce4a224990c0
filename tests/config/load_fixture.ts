import { dirname, join } from "node:path";
import { loadConfiguration } from "../../src/config/load.ts";
import type { ServiceConfig } from "../../src/config/service_config.ts";
import { KINDS } from "../../src/service/kinds.ts";
import { assertRemedies } from "../fixtures/remedies.ts";
import { formatDiagnostic } from "../../src/model/diagnostic.ts";

/** Result of {@link loadText}. Paths do not show the temporary working directory: `/conf/x`. */
export interface Loaded {
  readonly config: ServiceConfig | undefined;
  readonly errors: readonly string[];
  readonly warnings: readonly string[];
}

/** Smallest configuration that loads without a warning; a test adds only the lines under test. */
export const MINIMAL = `container.security.credential.path=conf/host.pem
container.security.truststore.directoryLocations.1=conf/ca/*.pem
authservice.servers=HPC
authservice.server.HPC.host=192.0.2.1
authservice.server.HPC.port=64434
authservice.server.HPC.commandHost=10.0.0.1
authservice.server.HPC.commandPort=64435
container.security.rest.authentication.order=SSHKEY
`;

/** Number of lines of {@link MINIMAL}; the first line that a test adds has the next number. */
export const MINIMAL_LINES = MINIMAL.split("\n").length - 1;

/**
 * Loads `conf/c` with this text, in a new folder.
 * @param files Other files of the folder.
 */
export async function loadText(
  text: string,
  files: Record<string, string> = {},
  { environment = {}, mode = 0o600 }: { environment?: Record<string, string>; mode?: number } = {},
): Promise<Loaded> {
  const workingDirectory = await Deno.makeTempDir();
  try {
    for (const [name, content] of Object.entries({ ...files, "conf/c": text })) {
      const path = join(workingDirectory, name);
      await Deno.mkdir(dirname(path), { recursive: true });
      await Deno.writeTextFile(path, content, { mode });
    }
    const { config, diagnostics } = await loadConfiguration("conf/c", {
      kinds: KINDS,
      workingDirectory,
      environment: (name) => environment[name],
      hostName: () => "machine.example",
    });
    assertRemedies(diagnostics);
    const shown = (severity: "error" | "warning") =>
      diagnostics.filter((diagnostic) => diagnostic.severity === severity)
        .map((diagnostic) => formatDiagnostic(diagnostic).replaceAll(workingDirectory, ""));
    return {
      config: withoutFolder(config, workingDirectory),
      errors: shown("error"),
      warnings: shown("warning"),
    };
  } finally {
    await Deno.remove(workingDirectory, { recursive: true });
  }
}

/** Returns a copy with the folder removed from paths. */
function withoutFolder<T>(value: T, folder: string): T {
  return JSON.parse(JSON.stringify(value ?? null).replaceAll(folder, "")) ?? undefined;
}
