import { join } from "node:path";
import { VERSION } from "../service/version.ts";
import { defineCommand, type Given, MAIN_FILE } from "./command.ts";
import { configurationFolder } from "./config_option.ts";

/** Command `authserver version`. */
export const version = defineCommand({
  name: "version",
  summary: "Print the version of this service and of its runtime",
  operands: {},
  options: {},
}, async (given) => {
  const { target } = Deno.build;
  const configuration = await mainFile(given);
  const value = { version: VERSION, deno: Deno.version.deno, v8: Deno.version.v8, target, configuration };
  return { value, text: `authserver ${VERSION} (Deno ${value.deno}, ${target})\n` };
});

async function mainFile(given: Pick<Given<"config", never>, "text">): Promise<string | undefined> {
  const folder = await configurationFolder();
  return given.text("config") ?? (folder === undefined ? undefined : join(folder, MAIN_FILE));
}
