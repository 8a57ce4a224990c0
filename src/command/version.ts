import { VERSION } from "../service/version.ts";
import { defineCommand } from "./command.ts";

/** `authserver version` */
export const version = defineCommand({
  name: "version",
  summary: "Print the version of this service and of its runtime",
  operands: {},
  options: { json: { help: "Print JSON" } },
}, (given, io) => {
  const { target } = Deno.build;
  const facts = { version: VERSION, deno: Deno.version.deno, v8: Deno.version.v8, target };
  io.stdout(
    given.flag("json")
      ? `${JSON.stringify(facts, undefined, 2)}\n`
      : `authserver ${VERSION} (Deno ${facts.deno}, ${target})\n`,
  );
  return Promise.resolve(0);
});
