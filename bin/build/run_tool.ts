/** A tool of the build ended with an error; the message has what it said. */
export class ToolFailed extends Error {
  override readonly name = "ToolFailed";
}

/**
 * Runs a program to its end.
 * @returns Its standard output.
 * @throws {ToolFailed} If its exit status is not 0.
 */
export async function runTool(
  program: string,
  args: readonly string[],
  { cwd, env, signal }: {
    readonly cwd?: string;
    readonly env?: Record<string, string>;
    readonly signal?: AbortSignal;
  } = {},
): Promise<string> {
  const command = new Deno.Command(program, { args: [...args], cwd, env, signal, stdin: "null" });
  const { success, code, stdout, stderr } = await command.output();
  const decoder = new TextDecoder();
  if (success) return decoder.decode(stdout);
  const said = `${decoder.decode(stdout)}${decoder.decode(stderr)}`.trim();
  throw new ToolFailed(`${program} ${args[0] ?? ""} ended with status ${code}:\n${said}`);
}

/** Runs the Deno that runs this build. */
export function runDeno(
  args: readonly string[],
  options: { readonly cwd?: string; readonly env?: Record<string, string> } = {},
): Promise<string> {
  return runTool(Deno.execPath(), args, { ...options, env: { NO_COLOR: "1", ...options.env } });
}
