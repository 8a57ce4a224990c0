import type { Items, Key, Section } from "../../src/config/key.ts";
import { writtenKeys } from "./written_keys.ts";

/** The manual's reference of all keys, from the tables that the configuration is read by. */
export function configurationReference(sections: readonly Section[]): string {
  const titles = sections.map(({ title }) => `- [${title}](#${anchor(title)})`);
  return `# Configuration reference

<!-- Made by \`deno task docs\` from the tables of keys. -->

The main file is \`conf/container.properties\`: \`key=value\` lines; \`#\` begins a comment. Other files are included by
\`$include.<any>=<file>\`; \`\${NAME}\` stands for an environment variable or for a line \`$var.NAME=…\` of the same file,
else of a file that includes it. Relative paths start from the folder the service was started in. \`authserver check\` says
what is wrong, with file and line.

A secret can be in a file of its own, which \`<key>File\` names: one line, readable only for the service. The
[security page](security.md#secrets-in-the-configuration) shows it with credentials of systemd.

\`authserver config schema\` prints a JSON Schema of all keys, for editors and for tools that write configurations.

Keys marked + are known to this service only, not to the Java one. A list has blanks, \`|\` or \`,\` between its parts.

${titles.join("\n")}

${sections.map(sectionText).join("\n")}`;
}

function sectionText(section: Section): string {
  const { prefix, title, ignored = {}, unknown } = section;
  const rows = [...writtenKeys(section)].map(([name, key]) => row(name, key, section.added));
  const left = Object.entries(ignored).map(([name, why]) => `- \`${prefix}${name}\`: ${why}`);
  const note = unknown === undefined
    ? "Other keys that begin like this are an error."
    : "Other keys that begin like this give a warning.";
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
  const fallback = key.shape === "many" ? "none" : defaultOf(key);
  return `| ${name} | ${cell(item.type)} | ${cell(fallback)} | ${cell(item.help)}. |`;
}

function defaultOf({ absent, unit }: Key<unknown>): string {
  if (absent === undefined) return "**required**";
  const { value } = absent;
  if (value === undefined) return "none";
  if (Array.isArray(value)) return value.length === 0 ? "none" : `\`${value.join(" ")}\``;
  return `\`${value}\`${unit === undefined ? "" : ` ${unit}`}`;
}

/** Text for a cell of a table: angle brackets are no markup, bars no borders. */
function cell(text: string): string {
  return text.replace(/[|]/g, "\\|").replace(/<(?=\w)/g, "&lt;");
}

function anchor(title: string): string {
  return title.toLowerCase().replace(/[^\w\s-]/g, "").replace(/\s/g, "-");
}
