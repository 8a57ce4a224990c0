/** Piece of a manual page that a test can try. */
export type Piece =
  /** A file of the installation that the page describes. */
  | { readonly kind: "file"; readonly path: string; readonly text: string; readonly line: number }
  /** Lines of the main configuration file. */
  | { readonly kind: "settings"; readonly text: string; readonly line: number }
  /** Commands and their output. */
  | { readonly kind: "commands"; readonly commands: readonly Command[]; readonly line: number };

export interface Command {
  readonly command: string;
  /** `…` stands for any text. */
  readonly output: string;
}

/**
 * Returns the pieces of a page, in order: code blocks with a path after the language are files, `properties`
 * without a path are settings, `console` blocks are commands after `$`. Other blocks are for reading only.
 */
export function piecesOf(page: string): Piece[] {
  const pieces: Piece[] = [];
  for (const { index, 1: info = "", 2: text = "" } of page.matchAll(/^```([^\n]*)\n([\s\S]*?)^```$/gm)) {
    const line = page.slice(0, index).split("\n").length;
    const [language, path] = info.trim().split(/\s+/);
    if (path !== undefined) pieces.push({ kind: "file", path, text, line });
    else if (language === "properties") pieces.push({ kind: "settings", text, line });
    else if (language === "console") pieces.push({ kind: "commands", commands: commandsOf(text), line });
  }
  return pieces;
}

function commandsOf(text: string): Command[] {
  const joined = text.replace(/\\\n\s*/g, " ");
  return joined.split(/^\$ /m).filter((part) => part.trim() !== "").map((part) => {
    const end = part.indexOf("\n");
    return { command: part.slice(0, end), output: part.slice(end + 1) };
  });
}

/** Reports whether a command printed the output on the page. */
export function isAsPrinted(printed: string, output: string): boolean {
  const pattern = output.trim().split("…").map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"))
    .join("[\\s\\S]*?");
  return new RegExp(`^${pattern}$`).test(printed.trim());
}

/** Returns the targets of links to files of the repository, with the part after `#`. */
export function linksOf(page: string): { readonly path: string; readonly anchor: string | undefined }[] {
  const prose = page.replace(/^```[\s\S]*?^```$/gm, "").replace(/`[^`\n]*`/g, "");
  return [...prose.matchAll(/\]\(([^)\s]+)\)/g)].flatMap(([, target = ""]) => {
    if (/^[a-z]+:/.test(target)) return [];
    const [path = "", anchor] = target.split("#");
    return [{ path, anchor }];
  });
}

/** Returns the anchors of a page: those that GitHub derives from headings, and explicit ones. */
export function anchorsOf(page: string): Set<string> {
  const prose = page.replace(/^```[\s\S]*?^```$/gm, "");
  const headings = [...prose.matchAll(/^#+ (.+)$/gm)].map(([, title = ""]) =>
    title.trim().toLowerCase().replace(/[^\p{L}\p{N}\s_-]/gu, "").replace(/\s/g, "-")
  );
  const own = [...prose.matchAll(/<a id="([^"]+)">/g)].map(([, id = ""]) => id);
  return new Set([...headings, ...own]);
}
