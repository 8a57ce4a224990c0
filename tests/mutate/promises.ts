/** Tables of the documents whose rows are promises, by the title of the first column. */
const PROMISES: readonly (readonly [page: string, title: string])[] = [
  ["docs/threat-model.md", "Attack"],
  ["docs/reliability.md", "What fails"],
  ["docs/reliability.md", "Parser"],
  ["docs/reliability.md", "What"],
];

/** Returns the first cells of all rows that are promises, in their order. */
export async function promises(root: string): Promise<string[]> {
  const found: string[] = [];
  for (const page of new Set(PROMISES.map(([page]) => page))) {
    const titles = PROMISES.filter(([path]) => path === page).map(([, title]) => title);
    found.push(...rowsOf(await Deno.readTextFile(root + page), titles));
  }
  return found;
}

/** Returns the first cells of rows in Markdown tables whose first column has one of these titles. */
export function rowsOf(text: string, titles: readonly string[]): string[] {
  const found: string[] = [];
  let table: string | undefined;
  for (const line of text.split("\n")) {
    const cell = /^\| (.+?) +\|/.exec(line)?.[1];
    if (!line.startsWith("|")) table = undefined;
    else if (table === undefined) table = cell ?? "";
    else if (cell !== undefined && !/^-+$/.test(cell) && titles.includes(table)) found.push(cell);
  }
  return found;
}
