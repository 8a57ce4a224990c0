/** Clients that generate the load, with Debian packages of the same names; in Deno, they would occupy a core. */
export const CLIENTS = ["wrk", "curl", "openssl"] as const;

/** Error for a program that is not installed. */
export class ProgramMissing extends Error {
  override readonly name = "ProgramMissing";

  constructor(program: string) {
    super(`${program} is not installed (Debian: apt-get install ${program}; macOS: brew install ${program})`);
  }
}

/** Checks that programs are installed. @throws {ProgramMissing} */
export async function requirePrograms(programs: readonly string[]): Promise<void> {
  for (const program of programs) {
    try {
      await new Deno.Command(program, { args: ["--version"], stdout: "null", stderr: "null" }).output();
    } catch (error) {
      if (error instanceof Deno.errors.NotFound) throw new ProgramMissing(program);
      throw error;
    }
  }
}
