import { bashCompletion } from "./bash.ts";
import { fishCompletion } from "./fish.ts";
import { zshCompletion } from "./zsh.ts";
import { type Command, defineCommand, tell } from "../command.ts";
import { WrongUsage } from "../arguments.ts";
import type { CommandSpec } from "../command_spec.ts";

type MakeCompletion = (commands: readonly CommandSpec[]) => string;

/** Supported shells. */
export const SHELLS: ReadonlyMap<string, MakeCompletion> = new Map([
  ["bash", bashCompletion],
  ["zsh", zshCompletion],
  ["fish", fishCompletion],
]);

/** Command `authserver completion`. @param commands Called on use, since the list contains this command. */
export function completion(commands: () => Promise<readonly Command[]>): Command {
  return defineCommand({
    name: "completion",
    summary: "Print a shell completion script",
    details: [
      "bash: authserver completion bash > /usr/share/bash-completion/completions/authserver\n" +
      "zsh:  authserver completion zsh > /usr/share/zsh/vendor-completions/_authserver\n" +
      "fish: authserver completion fish > /usr/share/fish/vendor_completions.d/authserver.fish",
    ],
    examples: { "source <(authserver completion bash)": "Enables completion in the current shell" },
    operands: { shell: "bash, zsh or fish" },
    options: {},
    json: { "shell": "As given", "script": "The script" },
  }, async (given, io) => {
    const shell = given.operand("shell");
    const make = SHELLS.get(shell);
    if (make === undefined) throw new WrongUsage(`Expected one of ${[...SHELLS.keys()].join(", ")}`);
    const script = make((await commands()).map(({ spec }) => spec));
    tell(given, io, { value: { shell, script }, text: script });
    return 0;
  });
}
