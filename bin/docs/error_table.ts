import { readErrorClasses } from "./read_error_classes.ts";
import { REMEDIES } from "./remedies.ts";

/**
 * The manual's table of error codes, from the error classes below a folder.
 * @throws {Error} If a code has no remedy, or a remedy no code.
 */
export async function errorTable(folder: string): Promise<string> {
  const classes = await readErrorClasses(folder);
  const codes = [...new Set(classes.map(({ code }) => code))];
  const without = codes.filter((code) => REMEDIES[code] === undefined);
  const unused = Object.keys(REMEDIES).filter((code) => !codes.includes(code));
  if (without.length > 0) throw new Error(`no remedy for ${without.join(", ")}`);
  if (unused.length > 0) throw new Error(`no class has the code ${unused.join(", ")}`);
  const rows = codes.map((code) => {
    const same = classes.filter((one) => one.code === code);
    const statuses = [...new Set(same.map(({ status }) => status))].join(", ");
    const meaning = same.map(({ meaning }) => sentence(meaning)).join(" Or: ");
    return `| <a id="${code.toLowerCase()}"></a>\`${code}\` | ${statuses} | ${meaning} | ${REMEDIES[code]} |`;
  });
  return `# Error codes

<!-- Made by \`deno task docs\` from the error classes and bin/docs/remedies.ts. -->

Every answer with status 400 or above has a JSON body (browsers get a page):

\`\`\`json
{ "status": 404, "errorMessage": "There is no such server", "code": "ERR_UNKNOWN_SERVER", "requestId": "…" }
\`\`\`

\`code\` never changes its meaning; the text may. \`requestId\` is in every line that the log has about the request, with
the reason that the caller is not told.

| Code | Status | Meaning | What to do |
| --- | --- | --- | --- |
${rows.join("\n")}
`;
}

/** Without pointers to working papers, which readers of the manual do not have. */
function sentence(text: string): string {
  return text.replace(/\s*\((?:[^()]*\.md[^()]*|design[^()]*|specification[^()]*)\)/g, "").replaceAll(
    "|",
    "\\|",
  );
}
