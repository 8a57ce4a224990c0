import { piecesOf } from "./manual_page.ts";

/** Files, settings and commands of a section of a page. */
export interface Recipe {
  readonly files: Readonly<Record<string, string>>;
  /** Lines of the main configuration file by key, one record for each `properties` block. */
  readonly settings: readonly Readonly<Record<string, string>>[];
  readonly commands: readonly string[];
}

/**
 * Reads a section of a page below `docs/`, by default of the page about providers.
 * @param heading Exact text of the section's heading.
 * @param names Replacements for the page's example names.
 */
export async function recipeOf(
  heading: string,
  names: Readonly<Record<string, string>>,
  page = "providers.md",
): Promise<Recipe> {
  const whole = await Deno.readTextFile(new URL(`../../docs/${page}`, import.meta.url));
  const [, section = ""] = whole.split(new RegExp(`\\n##+ ${RegExp.escape(heading)}\\n`));
  const [own = ""] = section.split(/\n##+ /);
  if (own === "") throw new TypeError(`docs/${page} has no section ${heading}`);
  const text = Object.entries(names).reduce((text, [name, own]) => text.replaceAll(name, own), own);
  const pieces = piecesOf(text);
  return {
    files: Object.fromEntries(
      pieces.flatMap((piece) => piece.kind === "file" ? [[piece.path, piece.text]] : []),
    ),
    settings: pieces.flatMap((piece) => piece.kind === "settings" ? [propertiesOf(piece.text)] : []),
    commands: [...text.matchAll(/^```sh\n([^]*?)^```$/gm)].map(([, commands = ""]) => commands),
  };
}

function propertiesOf(text: string): Record<string, string> {
  return Object.fromEntries(
    text.trim().split("\n").map((line) => {
      const at = line.indexOf("=");
      return [line.slice(0, at), line.slice(at + 1)];
    }),
  );
}
