import { tmpdir } from "node:os";

/** Free memory that a folder in memory requires, and the size of the folder, in bytes. */
const FREE = 8 * 1024 ** 3;
const SIZE = 4 * 1024 ** 3;

/** Folder in which tests create temporary files and folders, removed at the end. */
export interface ScratchFolder extends AsyncDisposable {
  readonly path: string;
  /**
   * Prefix for a command. It puts the folder into memory while the command runs: on a busy disk, tests wait
   * for each file that they create or remove. Empty if memory is short, or if this is not permitted.
   */
  readonly within: readonly string[];
}

export async function makeScratchFolder(): Promise<ScratchFolder> {
  // A short path, since tests create sockets below it.
  const path = `${tmpdir()}/t-${crypto.randomUUID().slice(0, 6)}`;
  await Deno.mkdir(path);
  await Deno.chmod(path, 0o1777); // servers that tests start run under another account
  // Only this command and its children see the mount, so that nothing stays mounted after they end.
  const mount = `mount -t tmpfs -o mode=1777,size=${SIZE} tests "$0" && exec "$@"`;
  const within = ["unshare", "--mount", "sh", "-c", mount, path];
  return {
    path,
    within: Deno.systemMemoryInfo().available >= FREE && await succeeds([...within, "true"]) ? within : [],
    [Symbol.asyncDispose]: () => Deno.remove(path, { recursive: true }),
  };
}

async function succeeds([program = "", ...args]: readonly string[]): Promise<boolean> {
  try {
    const command = new Deno.Command(program, { args, stdin: "null", stdout: "null", stderr: "null" });
    return (await command.output()).success;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}
