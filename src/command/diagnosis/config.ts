import { loadConfiguration } from "../../config/load.ts";
import { KINDS } from "../../service/kinds.ts";
import type { EffectiveValue } from "../../config/key_reader.ts";
import { formatDiagnostic, isError } from "../../model/diagnostic.ts";
import { defineCommand, defineCommands, printResult, textTable } from "../command.ts";
import { configFile } from "../config_option.ts";
import { SYSTEM_INFO } from "../system_info.ts";

const show = defineCommand({
  name: "config show",
  summary: "Show the effective values, with file and line, or default",
  details: [
    "The command shows secrets as ***. It reads the current files and needs no running service.",
    "Exit status 1: the configuration has errors, see authserver check. The command still shows the readable values.",
  ],
  operands: {},
  options: { all: { help: "Also show unset keys without a default" } },
}, async (given, io) => {
  const context = { kinds: KINDS, ...SYSTEM_INFO };
  const { effective, diagnostics } = await loadConfiguration(await configFile(given), context);
  const shown = effective.map(toShown).filter(({ value }) => given.flag("all") || value !== null);
  printResult(given, io, { value: shown, text: formatValues(shown) });
  const errors = diagnostics.filter(isError);
  for (const diagnostic of errors) io.stderr(`error: ${formatDiagnostic(diagnostic)}\n`);
  return errors.length === 0 ? 0 : 1;
});

const schema = defineCommand({
  name: "config schema",
  summary: "Print the JSON Schema of the configuration",
  details: [
    "The schema (draft 2020-12) describes container.properties as one JSON object of keys and values, for editors and for tools that write configurations: types, defaults, allowed words and descriptions. It sees no other files, and not what keys mean together: authserver check does.",
  ],
  operands: {},
  options: {},
}, async () => {
  const { default: text } = await import("../../../docs/configuration.schema.json", {
    with: { type: "text" },
  });
  return { value: JSON.parse(text), text };
});

/** Command `authserver config`. */
export const config = defineCommands({
  name: "config",
  summary: "Show the effective configuration, or the schema of all keys",
  commands: [show, schema],
});

/** @returns `source`: `conf/container.properties:12`, or `default`. */
function toShown({ key, section, value, secret, file, line }: EffectiveValue) {
  return {
    key,
    section,
    value: value === undefined ? null : secret && value !== "" ? "***" : value,
    source: file === undefined ? "default" : line === undefined ? file : `${file}:${line}`,
  };
}

function formatValues(values: readonly ReturnType<typeof toShown>[]): string {
  const paragraphs = [...Map.groupBy(values, ({ section }) => section)].map(([title, members]) => {
    const rows = members.map((each) => [`${each.key} = ${each.value ?? ""}`.trimEnd(), `# ${each.source}`]);
    return `# ${title}\n${textTable(rows, { widest: 72 })}`;
  });
  return paragraphs.join("\n");
}
