import { piecesOf } from "./manual_page.ts";

/** What a section of the page of providers says to write and to type. */
export interface Recipe {
  /** Files by their names. */
  readonly files: Readonly<Record<string, string>>;
  /** Lines of the main configuration file by key, each `properties` block by itself. */
  readonly settings: readonly Readonly<Record<string, string>>[];
  /** Blocks of commands. */
  readonly commands: readonly string[];
}

/**
 * Reads a section of `docs/providers.md`.
 * @param heading As it stands there.
 * @param names What to put in place of names that stand for those of a site.
 */
export async function recipeOf(heading: string, names: Readonly<Record<string, string>>): Promise<Recipe> {
  const page = await Deno.readTextFile(new URL("../../docs/providers.md", import.meta.url));
  const [, section = ""] = page.split(`\n## ${heading}\n`);
  const [own = ""] = section.split("\n## ");
  if (own === "") throw new TypeError(`docs/providers.md has no section ${heading}`);
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
