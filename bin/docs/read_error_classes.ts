/** One class of `ServiceError`, as its source has it. */
export interface ErrorClass {
  readonly name: string;
  readonly code: string;
  readonly status: number;
  /** Its doc comment as one paragraph, without tags. */
  readonly meaning: string;
  /** Relative to `src`. */
  readonly file: string;
}

const CLASS =
  /\/\*\*(?<comment>(?:(?!\*\/)[\s\S])*)\*\/\s*export (?:abstract )?class (?<name>\w+) extends (?<parent>\w+) \{(?<body>[\s\S]*?)\n?\}\n/g;

/**
 * Reads every class with an error code out of the sources below a folder.
 * @throws {Error} If a class has a code and no status, or a code stands anywhere else than in a class.
 */
export async function readErrorClasses(folder: string): Promise<ErrorClass[]> {
  const found: ErrorClass[] = [];
  for await (const path of sources(folder)) {
    const text = await Deno.readTextFile(path);
    const file = path.slice(folder.length).replace(/^\//, "");
    const declared = [...text.matchAll(/readonly code(?:: ErrorCode)? = "ERR_\w+"/g)].length;
    let read = 0;
    for (const { groups = {} } of text.matchAll(CLASS)) {
      const code = /readonly code(?:: ErrorCode)? = "(ERR_\w+)"/.exec(groups.body ?? "")?.[1];
      if (code === undefined) continue;
      read++;
      const status = /readonly status = (\d{3});/.exec(groups.body ?? "")?.[1];
      if (status === undefined) throw new Error(`${file}: ${groups.name} has a code and no status`);
      found.push({
        name: groups.name ?? "",
        code,
        status: Number(status),
        meaning: paragraph(groups.comment ?? ""),
        file,
      });
    }
    if (read !== declared) throw new Error(`${file}: ${declared} codes, of which ${read} could be read`);
  }
  return found.sort((a, b) => a.code < b.code ? -1 : a.code > b.code ? 1 : a.file < b.file ? -1 : 1);
}

async function* sources(folder: string): AsyncGenerator<string> {
  for await (const { name, isDirectory } of Deno.readDir(folder)) {
    const path = `${folder}/${name}`;
    if (isDirectory) yield* sources(path);
    else if (name.endsWith(".ts")) yield path;
  }
}

function paragraph(comment: string): string {
  const text = comment.split("\n").map((line) => line.replace(/^\s*\*?\s?/, "")).join(" ");
  return text.replace(/\s@\w[\s\S]*$/, "").replace(/\{@link (\w+)\}/g, "`$1`").replace(/\s+/g, " ").trim();
}
