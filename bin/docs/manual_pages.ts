import { bashCompletion } from "./bash_completion.ts";
import { documented } from "./documented_command.ts";
import { fishCompletion } from "./fish_completion.ts";
import { manualPages } from "./manual_page.ts";
import { allCommands } from "../../src/command/run_command.ts";
import { VERSION } from "../../src/service/version.ts";
import { zshCompletion } from "./zsh_completion.ts";

const COMMANDS = await allCommands();

/** Date on the manual pages; to be moved with each release. */
const DATE = "2026-11-21";

/** Completion scripts by file, as the shells want them named; the command `completion` prints them. */
const SCRIPTS = {
  "bash/authserver": bashCompletion,
  "zsh/_authserver": zshCompletion,
  "fish/authserver.fish": fishCompletion,
} as const;

/** Manual pages and completion scripts: path -> text. */
export function commandPages(): [path: string, text: string][] {
  const specs = COMMANDS.map(({ spec }) => spec);
  const pages = manualPages(specs.map(documented), { date: DATE, version: VERSION });
  return [
    ...pages.map(({ file, text }): [string, string] => [`docs/man/${file}`, text]),
    ...Object.entries(SCRIPTS).map(([file, make]): [string, string] => [
      `docs/completions/${file}`,
      make(specs),
    ]),
  ];
}
