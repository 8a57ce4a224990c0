import { type Site } from "../system/running_service.ts";
import { type Ran, runToEnd } from "./every_command.ts";

/** User id of `nobody`, on every Linux. */
const NOBODY = 65534;

/** Single-file program and a `conf/` folder, owned by the unprivileged user that runs the program. */
export class Installation {
  readonly #site: Site;
  readonly program: string;
  readonly #home: string;

  private constructor(site: Site) {
    this.#site = site;
    this.program = `${site.folder}/authserver`;
    this.#home = `${site.folder}/home`;
  }

  /** Copies a program into the folder of a configuration. */
  static async create(site: Site, program: string | Uint8Array): Promise<Installation> {
    const installation = new Installation(site);
    if (typeof program === "string") await Deno.copyFile(program, installation.program);
    else await Deno.writeFile(installation.program, program);
    await Deno.chmod(installation.program, 0o755);
    await Deno.mkdir(installation.#home);
    await installation.give();
    return installation;
  }

  /** Gives everything in the folder to the unprivileged user, if the test runs as root. */
  async give(path = this.#site.folder): Promise<void> {
    if (Deno.uid() !== 0) return;
    await Deno.chown(path, NOBODY, NOBODY);
    if (!(await Deno.stat(path)).isDirectory) return;
    for await (const { name } of Deno.readDir(path)) await this.give(`${path}/${name}`);
  }

  /** Returns a command with the environment of a login. */
  command(program: string, args: readonly string[] = []): Deno.Command {
    const user = Deno.uid() === 0 ? { uid: NOBODY, gid: NOBODY } : {};
    return new Deno.Command(program, {
      ...user,
      args: [...args],
      cwd: this.#site.folder,
      clearEnv: true,
      env: { PATH: "/usr/bin:/bin", HOME: this.#home },
      stdin: "piped",
      stdout: "piped",
      stderr: "piped",
    });
  }

  /** Runs a command to its end. */
  run(program: string, args: readonly string[] = [], input = ""): Promise<Ran> {
    return runToEnd(this.command(program, args), input);
  }

  /** Starts the service, waits until it prints its port, calls `act`, and stops the service. */
  async serve<T>(
    act: (port: number, pid: number) => Promise<T>,
  ): Promise<{ result: T; printed: string; code: number }> {
    const child = this.command(this.program, ["serve"]).spawn();
    let printed = "";
    const started = Promise.withResolvers<number>();
    const collect = async (stream: ReadableStream<Uint8Array<ArrayBuffer>>) => {
      for await (const text of stream.pipeThrough(new TextDecoderStream())) {
        printed += text;
        const [, port] = /service started .*port=(\d+)/.exec(printed) ?? [];
        if (port !== undefined) started.resolve(Number(port));
      }
    };
    const over = Promise.all([child.status, collect(child.stdout), collect(child.stderr)]).then(
      ([{ code }]) => {
        started.reject(new Error(`the service ended with status ${code}:\n${printed}`));
        return code;
      },
    );
    try {
      const result = await act(await started.promise, child.pid);
      child.kill("SIGTERM");
      return { result, code: await over, printed };
    } catch (error) {
      child.kill("SIGKILL");
      await over;
      throw error;
    }
  }
}
