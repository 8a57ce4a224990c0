/** The service in a process of its own. */
export class ServiceProcess implements AsyncDisposable {
  private constructor(readonly child: Deno.ChildProcess, readonly port: number) {}

  /** @param main Main configuration file. @throws If it does not start. */
  static async start(main: string): Promise<ServiceProcess> {
    const child = new Deno.Command(Deno.execPath(), {
      args: ["run", "--quiet", "--no-check", "--allow-all", MAIN.pathname, "serve", "--config", main],
      stdout: "piped",
    }).spawn();
    let text = "";
    const lines = child.stdout.pipeThrough(new TextDecoderStream()).getReader();
    for (;;) {
      const { value, done } = await lines.read();
      if (done) throw new Error(`the service did not start:\n${text}`);
      text += value;
      const port = /service started .*port=(\d+)/.exec(text)?.[1];
      if (port === undefined) continue;
      void (async () => {
        while (!(await lines.read()).done);
      })();
      return new ServiceProcess(child, Number(port));
    }
  }

  /** Resident memory in bytes; Linux only. */
  memory(): number {
    const status = Deno.readTextFileSync(`/proc/${this.child.pid}/status`);
    return Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1]) * 1024;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.child.kill("SIGTERM");
    await this.child.status;
  }
}

const MAIN = new URL("../../../main.ts", import.meta.url);
