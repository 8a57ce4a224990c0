/** Small file system that a test can fill. */
export interface SmallDisk extends AsyncDisposable {
  readonly path: string;
  /** Fills the file system to the last byte. */
  fill(): Promise<void>;
  /** Frees the space again. */
  empty(): Promise<void>;
  readOnly(wanted: boolean): Promise<void>;
}

/** Mounts a file system. @returns `undefined` if the test may not mount one, which needs root. */
export async function mountSmallDisk(kibibytes: number): Promise<SmallDisk | undefined> {
  if (Deno.build.os !== "linux" || Deno.uid() !== 0) return undefined;
  const path = await Deno.makeTempDir({ prefix: "authserver-disk-" });
  if (!await run("mount", "-t", "tmpfs", "-o", `size=${kibibytes}k`, "tmpfs", path)) {
    await Deno.remove(path);
    return undefined;
  }
  const ballast = `${path}/.ballast`;
  return {
    path,
    async fill() {
      using file = await Deno.open(ballast, { write: true, create: true });
      try {
        for (const size of [65_536, 4096, 1]) {
          const bytes = new Uint8Array(size);
          try {
            for (;;) await file.write(bytes);
          } catch (error) {
            if (!isFull(error)) throw error;
          }
        }
      } finally {
        await file.sync();
      }
    },
    empty: () => Deno.remove(ballast),
    async readOnly(wanted) {
      if (!await run("mount", "-o", `remount,${wanted ? "ro" : "rw"}`, path)) {
        throw new Error("not remounted");
      }
    },
    async [Symbol.asyncDispose]() {
      if (!await run("umount", "-l", path)) throw new Error(`${path} is still mounted`);
      await Deno.remove(path);
    },
  };
}

function isFull(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "ENOSPC";
}

async function run(command: string, ...args: string[]): Promise<boolean> {
  const { success } = await new Deno.Command(command, { args, stdout: "null", stderr: "null" }).output();
  return success;
}
