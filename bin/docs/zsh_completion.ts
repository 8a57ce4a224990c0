import type { CommandSpec, OptionSpec } from "../../src/command/command.ts";
import { isFile } from "./documented_command.ts";

/** Returns the completion script for zsh. */
export function zshCompletion(commands: readonly CommandSpec[]): string {
  return `#compdef authserver
# Completion of authserver for zsh, made by: authserver completion zsh
_authserver() {
  local context state state_descr line
  typeset -A opt_args
${chooser(commands, "  ")}
}

_authserver "$@"
`;
}

function chooser(commands: readonly CommandSpec[], indent: string): string {
  const described = commands.map((spec) =>
    `${indent}    ${quote(`${describe(lastWord(spec))}:${spec.summary}`)}`
  );
  const cases = commands.map((spec) => {
    const inner = spec.commands.length > 0
      ? chooser(spec.commands, `${indent}      `)
      : `${indent}      _arguments ${specs(spec).map((one) => `\\\n${indent}        ${one}`).join(" ")}`;
    return `${indent}    ${lastWord(spec)})\n${inner}\n${indent}      ;;`;
  });
  return `${indent}_arguments -C '--help[Show help]' '1: :->command' '*:: :->rest' && return
${indent}case "$state" in
${indent}  command)
${indent}    local -a commands=(
${described.join("\n")}
${indent}    )
${indent}    _describe -t commands command commands
${indent}    ;;
${indent}  rest)
${indent}    case "$line[1]" in
${cases.join("\n")}
${indent}    esac
${indent}    ;;
${indent}esac`;
}

function specs({ options, operands }: CommandSpec): string[] {
  return [
    ...Object.entries(options).map(([name, option]) => quote(optionSpec(name, option))),
    ...Object.entries(operands).map(([name, help]) =>
      quote(`${name.endsWith("?") ? "::" : ":"}${describe(name.replace("?", ""))} (${describe(help)}):`)
    ),
  ];
}

function optionSpec(name: string, option: OptionSpec): string {
  const help = option.help.replace(/[[\]]/g, "\\$&");
  if (option.value === undefined) return `--${name}[${help}]`;
  return `--${name}=[${help}]:${describe(option.value)}:${isFile(option) ? "_files" : ""}`;
}

function describe(text: string): string {
  return text.replaceAll(":", "\\:");
}

function lastWord({ name }: CommandSpec): string {
  return name.slice(name.lastIndexOf(" ") + 1);
}

function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
