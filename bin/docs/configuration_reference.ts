import type { Items, Key, Section } from "../../src/config/key.ts";
import { writtenKeys } from "./written_keys.ts";

/** The manual's reference of all keys, from the tables that the configuration is read by. */
export function configurationReference(sections: readonly Section[]): string {
  const titles = sections.map(({ title }) => `- [${title}](#${anchor(title)})`);
  return `# Configuration reference

<!-- Made by \`deno task docs\` from the tables of keys. -->

The main file is \`conf/container.properties\`: \`key=value\` lines; \`#\` begins a comment. Other files are included by
\`$include.<any>=<file>\`; \`\${NAME}\` stands for an environment variable or for a line \`$var.NAME=…\` of the same file,
else of a file that includes it. Relative paths start from the working directory of the service. \`authserver check\`
reports errors with file and line.

A secret can be in a file of its own: \`<key>File\` names a file that contains only the secret, in one line, and that only
the service can read. The [security page](security.md#secrets-in-the-configuration) shows this with systemd credentials.

\`authserver config schema\` prints a JSON Schema of all keys, for editors and for tools that write configurations.

The Java service does not have keys marked +. A list has blanks, \`|\` or \`,\` between its parts.

${titles.join("\n")}

${sections.map(sectionText).join("\n")}`;
}

function sectionText(section: Section): string {
  const { prefix, title, ignored = {}, unknown } = section;
  const rows = [...writtenKeys(section)].map(([name, key]) => row(name, key, section.added));
  const left = Object.entries(ignored).map(([name, why]) => `- \`${prefix}${name}\`: ${why}`);
  const note = unknown === undefined
    ? "Unknown keys with this prefix are an error."
    : "Unknown keys with this prefix cause a warning.";
  return `## ${title}

${note}

| Key | Value | Default | Meaning |
| --- | --- | --- | --- |
${rows.join("\n")}
${
    left.length === 0
      ? ""
      : `\nAccepted from files of the Java service, without effect:\n\n${left.join("\n")}\n`
  }`;
}

function row(written: string, key: Key<unknown> | Items<unknown>, added = false): string {
  const { item, suffix } = key.shape === "many"
    ? { item: key.item, suffix: ".<any>" }
    : { item: key, suffix: "" };
  const name = `\`${written}${suffix}\`${added || item.added ? " +" : ""}`;
  const fallback = key.shape === "many" ? NONE : defaultOf(key);
  return `| ${name} | ${cell(item.type)} | ${cell(fallback)} | ${cell(item.help)}. |`;
}

/** Default of a key that is unset by default. */
const NONE = "–";

function defaultOf({ absent, unit }: Key<unknown>): string {
  if (absent === undefined) return "**required**";
  const { value } = absent;
  if (value === undefined) return NONE;
  if (Array.isArray(value)) return value.length === 0 ? NONE : `\`${value.join(" ")}\``;
  return `\`${value}\`${unit === undefined ? "" : ` ${unit}`}`;
}

/** Text for a cell of a table: angle brackets are no markup, bars no borders. */
function cell(text: string): string {
  return text.replace(/[|]/g, "\\|").replace(/<(?=\w)/g, "&lt;");
}

function anchor(title: string): string {
  return title.toLowerCase().replace(/[^\w\s-]/g, "").replace(/\s/g, "-");
}
