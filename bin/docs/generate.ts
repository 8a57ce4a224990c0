/** `deno task docs [--check]`: writes the generated pages of the manual, or says which of them are out of date. */
import { dirname } from "node:path";
import { configurationReference } from "./configuration_reference.ts";
import { errorTable } from "./error_table.ts";
import { commandPages } from "./manual_pages.ts";
import { allCommands } from "../../src/command/run_command.ts";
import { commandReference } from "./command_reference.ts";
import { configurationSchema } from "./configuration_schema.ts";
import { documented } from "./documented_command.ts";
import { metricsTable } from "./metrics_table.ts";
import { sections } from "./sections.ts";
import { KINDS } from "../../src/service/kinds.ts";
import { FAMILIES } from "../../src/metrics/families.ts";

const COMMANDS = await allCommands();

const ROOT = new URL("../../", import.meta.url).pathname;

/** Path of each generated page -> its text. */
export async function generatedPages(): Promise<ReadonlyMap<string, string>> {
  return new Map([
    ["docs/configuration.md", configurationReference(await sections(KINDS))],
    ["docs/configuration.schema.json", `${JSON.stringify(await configurationSchema(KINDS), undefined, 2)}\n`],
    ["docs/commands.md", commandReference(COMMANDS.map(({ spec }) => documented(spec)))],
    ["docs/errors.md", errorTable()],
    ["docs/monitoring/metrics.md", metricsTable(FAMILIES)],
    ...commandPages(),
  ]);
}

/** Generated pages whose committed text is another one. */
export async function outdatedPages(): Promise<string[]> {
  const outdated: string[] = [];
  for (const [path, text] of await generatedPages()) {
    const committed = await Deno.readTextFile(ROOT + path).catch(() => undefined);
    if (committed !== text) outdated.push(path);
  }
  return outdated;
}

if (import.meta.main) {
  if (Deno.args.includes("--check")) {
    const outdated = await outdatedPages();
    outdated.forEach((path) => console.error(`${path} is out of date, run: deno task docs`));
    Deno.exit(outdated.length === 0 ? 0 : 1);
  }
  for (const [path, text] of await generatedPages()) {
    await Deno.mkdir(dirname(ROOT + path), { recursive: true });
    await Deno.writeTextFile(ROOT + path, text);
  }
}
