import { userInfo } from "node:os";

/** Account of every Debian system; the account `nobody` may share nothing. */
const SYSTEM_ACCOUNT = { uid: 1, gid: 1, username: "daemon", homedir: "/usr/sbin" };

/** Returns the account of the sessions: `daemon` for root, else the user's own. */
export function sessionAccount(): {
  readonly uid: number;
  readonly gid: number;
  readonly username: string;
  readonly homedir: string | null;
} {
  return Deno.uid() === 0 ? SYSTEM_ACCOUNT : userInfo();
}

/** UFTPD on loopback. */
export interface RealDaemon extends AsyncDisposable {
  readonly port: number;
  readonly commandPort: number;
}

/**
 * Starts UFTPD from a checkout, and waits until it listens.
 * @param settings Further variables of its configuration.
 */
export async function startUftpd(
  checkout: string,
  { folder, settings = {} }: {
    readonly folder: string;
    readonly settings?: Readonly<Record<string, string>>;
  },
): Promise<RealDaemon> {
  const [port, commandPort] = freePorts(2);
  // Loads _strptime first: sessions run as another account, which may not be able to read all of Python.
  const program = `import _strptime, runpy, sys; sys.path.insert(0, sys.argv[1]); ` +
    `runpy.run_path(sys.argv[1] + "/UFTPD.py", run_name="__main__")`;
  const process = new Deno.Command("python3", {
    args: ["-c", program, `${checkout}/lib`],
    cwd: folder,
    env: {
      CMD_HOST: "127.0.0.1",
      CMD_PORT: String(commandPort),
      SERVER_HOST: "localhost",
      SERVER_PORT: String(port),
      DISABLE_IPv6: "true",
      LOG_SYSLOG: "false",
      ...settings,
    },
    stdin: "null",
    stdout: "null",
    stderr: "null",
    detached: true,
  }).spawn();
  await reachable(port);
  return {
    port,
    commandPort,
    async [Symbol.asyncDispose]() {
      Deno.kill(-process.pid, "SIGKILL");
      await process.status;
    },
  };
}

/** Returns free ports of the loopback. */
export function freePorts(count: number): [number, number] {
  const listeners = Array.from({ length: count }, () => Deno.listen({ hostname: "127.0.0.1", port: 0 }));
  const [first = 0, second = 0] = listeners.map(({ addr }) => addr.port);
  listeners.forEach((listener) => listener.close());
  return [first, second];
}

/** Waits until a server listens on a port. */
export async function reachable(port: number): Promise<void> {
  for (let i = 0;; i++) {
    try {
      (await Deno.connect({ hostname: "127.0.0.1", port })).close();
      return;
    } catch (error) {
      if (!(error instanceof Deno.errors.ConnectionRefused) || i > 200) throw error;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
}
