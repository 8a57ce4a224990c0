import { runTool, ToolFailed } from "../../bin/build/run_tool.ts";

/** Root folder that shows this system and discards all changes. */
export class ThrowawayRoot implements AsyncDisposable {
  private constructor(readonly folder: string) {}

  static async create(): Promise<ThrowawayRoot> {
    const folder = await Deno.makeTempDir({ prefix: "authserver-root-" });
    await runTool("mount", ["-t", "tmpfs", "tmpfs", folder]);
    for (const name of ["upper", "work", "root"]) await Deno.mkdir(`${folder}/${name}`);
    const layers = `lowerdir=/,upperdir=${folder}/upper,workdir=${folder}/work`;
    await runTool("mount", ["-t", "overlay", "overlay", "-o", layers, `${folder}/root`]);
    await runTool("mount", ["-t", "proc", "proc", `${folder}/root/proc`]);
    // Without it, users other than root have no /dev/null.
    await runTool("mount", ["--bind", "/dev", `${folder}/root/dev`]);
    return new ThrowawayRoot(folder);
  }

  /** Reports whether this machine permits a throw-away root and has the given program. */
  static async available(installer: string): Promise<boolean> {
    if (Deno.uid() !== 0) return false;
    try {
      await runTool(installer, ["--version"]);
      await using _root = await ThrowawayRoot.create();
      return true;
    } catch (error) {
      if (error instanceof ToolFailed || error instanceof Deno.errors.NotFound) return false;
      throw error;
    }
  }

  path(path: string): string {
    return `${this.folder}/root${path}`;
  }

  run(...command: readonly string[]): Promise<string> {
    return runTool("chroot", [`${this.folder}/root`, ...command], {
      env: { DEBIAN_FRONTEND: "noninteractive" },
    });
  }

  async exists(path: string): Promise<boolean> {
    return await Deno.lstat(this.path(path)).then(() => true, () => false);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const path of ["/root/dev", "/root/proc", "/root", ""]) {
      await runTool("umount", [`${this.folder}${path}`]);
    }
    await Deno.remove(this.folder);
  }
}
