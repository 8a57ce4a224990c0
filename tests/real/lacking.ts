/** Reports in one line, and as an ignored test, what a part needs that is not installed. */
export function lacking(part: string, what: string): void {
  console.log(`${part}: not tried, ${what}`);
  Deno.test.ignore(`${part}: ${what}`, () => {});
}

/** Reports whether a program is on the path. */
export async function hasProgram(name: string): Promise<boolean> {
  for (const folder of (Deno.env.get("PATH") ?? "").split(":")) {
    const found = await Deno.stat(`${folder}/${name}`).then(({ isFile }) => isFile, () => false);
    if (found) return true;
  }
  return false;
}

/** Runs a program to its end. @throws If it fails, with its output. */
export async function run(
  program: string,
  args: readonly string[],
  { cwd, env = {} }: { readonly cwd?: string; readonly env?: Readonly<Record<string, string>> } = {},
): Promise<string> {
  const { success, stdout, stderr } = await new Deno.Command(program, {
    args: [...args],
    ...(cwd !== undefined && { cwd }),
    env,
    stdin: "null",
  }).output();
  const [out, errors] = [stdout, stderr].map((bytes) => new TextDecoder().decode(bytes));
  if (!success) throw new Error(`${program} ${args[0] ?? ""} failed: ${out}${errors}`);
  return `${out}${errors}`;
}
