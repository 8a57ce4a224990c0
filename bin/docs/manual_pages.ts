import { SHELLS } from "../../src/command/completion/completion.ts";
import { manualPages } from "./manual_page.ts";
import { allCommands } from "../../src/command/run_command.ts";
import { VERSION } from "../../src/service/version.ts";

const COMMANDS = await allCommands();

/** Date on the manual pages; to be moved with each release. */
const DATE = "2026-11-21";

/** Files of completion scripts, as the shells want them named. */
const NAMES: Readonly<Record<string, string>> = {
  bash: "authserver",
  zsh: "_authserver",
  fish: "authserver.fish",
};

/** Manual pages and completion scripts: path -> text. */
export function commandPages(): [path: string, text: string][] {
  const specs = COMMANDS.map(({ spec }) => spec);
  const pages = manualPages(specs, { date: DATE, version: VERSION });
  return [
    ...pages.map(({ file, text }): [string, string] => [`docs/man/${file}`, text]),
    ...[...SHELLS].map(([shell, make]): [string, string] => [
      `docs/completions/${shell}/${NAMES[shell] ?? shell}`,
      make(specs),
    ]),
  ];
}
