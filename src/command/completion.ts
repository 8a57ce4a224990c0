import bash from "../../docs/completions/bash/authserver" with { type: "text" };
import fish from "../../docs/completions/fish/authserver.fish" with { type: "text" };
import zsh from "../../docs/completions/zsh/_authserver" with { type: "text" };
import { defineCommand, WrongUsage } from "./command.ts";

/** Scripts by shell, which `deno task docs` generates from the table of commands. */
const SCRIPTS = new Map([["bash", bash], ["zsh", zsh], ["fish", fish]]);

/** Command `authserver completion`. */
export const completion = defineCommand({
  name: "completion",
  summary: "Print a shell completion script",
  details: [
    "bash: authserver completion bash > /usr/share/bash-completion/completions/authserver\n" +
    "zsh:  authserver completion zsh > /usr/share/zsh/vendor-completions/_authserver\n" +
    "fish: authserver completion fish > /usr/share/fish/vendor_completions.d/authserver.fish",
  ],
  operands: { shell: "bash, zsh or fish" },
  options: {},
}, (given) => {
  const shell = given.operand("shell");
  const script = SCRIPTS.get(shell);
  if (script === undefined) throw new WrongUsage(`Expected one of ${[...SCRIPTS.keys()].join(", ")}`);
  return { value: { shell, script }, text: script };
});
