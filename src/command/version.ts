import { VERSION } from "../service/version.ts";
import { defineCommand } from "./command.ts";
import { installedFile } from "./config_option.ts";

/** Command `authserver version`. */
export const version = defineCommand({
  name: "version",
  summary: "Print the version of this service and of its runtime",
  operands: {},
  options: {},
}, async (given) => {
  const { target } = Deno.build;
  const configuration = given.text("config") ?? await installedFile();
  const value = { version: VERSION, deno: Deno.version.deno, v8: Deno.version.v8, target, configuration };
  return { value, text: `authserver ${VERSION} (Deno ${value.deno}, ${target})\n` };
});
