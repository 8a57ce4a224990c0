import { VERSION } from "../service/version.ts";
import { defineCommand } from "./command.ts";

/** `authserver version` */
export const version = defineCommand({
  name: "version",
  summary: "Print the version of this service and of its runtime",
  operands: {},
  options: {},
}, (_given, io) => {
  io.stdout(`authserver ${VERSION} (Deno ${Deno.version.deno}, ${Deno.build.target})\n`);
  return Promise.resolve(0);
});
