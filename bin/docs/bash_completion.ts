import type { CommandSpec } from "../../src/command/command.ts";
import { isFile, withNested } from "./documented_command.ts";

/** Returns the completion script for bash without dependencies. */
export function bashCompletion(commands: readonly CommandSpec[]): string {
  const cases = withNested(commands).map((spec) => {
    const options = Object.entries(spec.options);
    const files = options.filter(([, option]) => isFile(option)).map(([name]) => `--${name}`);
    const values = options.filter(([, option]) => option.value !== undefined && !isFile(option))
      .map(([name]) => `--${name}`);
    return `    ${quote(spec.name)})
      words=${quote([...spec.commands.map(lastWord), ...options.map(([name]) => `--${name}`)].join(" "))}
      files=${quote(files.join(" "))}
      values=${quote(values.join(" "))}
      ;;
`;
  });
  const names = commands.map(({ name }) => name).join(" ");
  const groups = commands.filter((spec) => spec.commands.length > 0).map(({ name }) => name).join("|");
  return `# Completion of authserver for bash, made by: authserver completion bash
_authserver() {
  local current="\${COMP_WORDS[COMP_CWORD]}" previous="\${COMP_WORDS[COMP_CWORD-1]}"
  local command="\${COMP_WORDS[1]}" words files values
  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W ${quote(`${names} --help`)} -- "$current"))
    return
  fi
  case "$command" in
    ${groups}) [ "$COMP_CWORD" -gt 2 ] && command="$command \${COMP_WORDS[2]}" ;;
  esac
  case "$command" in
${cases.join("")}    *) return ;;
  esac
  case " $files " in
    *" $previous "*) COMPREPLY=($(compgen -f -- "$current")); return ;;
  esac
  case " $values " in
    *" $previous "*) return ;;
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o filenames -F _authserver authserver
`;
}

function lastWord({ name }: CommandSpec): string {
  return name.slice(name.lastIndexOf(" ") + 1);
}

function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\\\''")}'`;
}
