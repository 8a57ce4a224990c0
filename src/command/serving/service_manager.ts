/** What a service tells the manager that started it, in the manner of sd_notify(3). Nothing of it can fail the service. */
export interface ServiceManager {
  /** How often it wants to hear {@link alive}, in milliseconds; absent: not at all. */
  readonly watchdogMs: number | undefined;
  /** Requests are answered, after the start or a reload. @param status One line for `systemctl status`. */
  ready(status: string): void;
  /** The configuration is being read again; {@link ready} follows, whatever comes of it. */
  reloading(): void;
  /** @param afterSeconds The service goes on for so long before it really does. */
  stopping(afterSeconds: number): void;
  /** The service still does its work. */
  alive(): void;
  close(): void;
}

/** What it may take to stop after that, as `TimeoutStopSec` of our unit. */
const STOP_SECONDS = 60;

/** A manager that wants to hear nothing: the service was started by hand or by a script. */
export const NO_SERVICE_MANAGER: ServiceManager = {
  watchdogMs: undefined,
  ready() {},
  reloading() {},
  stopping() {},
  alive() {},
  close() {},
};

/**
 * The service manager that the environment names: `NOTIFY_SOCKET` is the path of a datagram socket, or with a leading `@`
 * its name in the abstract namespace; `WATCHDOG_USEC` the microseconds after which silence counts as death, meant for the
 * process `WATCHDOG_PID` if that is set (sd_notify(3), sd_watchdog_enabled(3)).
 * `MONOTONIC_USEC` is not sent: only units of type `notify-reload` need it, and the runtime has no such clock to read.
 * @param failed Told once, if the manager cannot be reached.
 */
export function connectServiceManager(
  environment: (name: string) => string | undefined,
  failed: (error: unknown) => void,
): ServiceManager {
  const address = environment("NOTIFY_SOCKET");
  if (address === undefined || address === "") return NO_SERVICE_MANAGER;
  const path = address.startsWith("@") ? `\0${address.slice(1)}` : address;
  try {
    // Sending needs a socket with a name of its own. An abstract one leaves nothing behind on the disk.
    const socket = Deno.listenDatagram({
      transport: "unixpacket",
      path: `\0authserver-${crypto.randomUUID()}`,
    });
    return new NotifySocket(socket, path, watchdogMs(environment), failed);
  } catch (error) {
    failed(error);
    return NO_SERVICE_MANAGER;
  }
}

function watchdogMs(environment: (name: string) => string | undefined): number | undefined {
  const pid = environment("WATCHDOG_PID");
  const microseconds = environment("WATCHDOG_USEC");
  if (microseconds === undefined || !/^[1-9]\d{0,15}$/.test(microseconds)) return undefined;
  if (pid !== undefined && pid !== String(Deno.pid)) return undefined;
  return Number(microseconds) / 1000;
}

class NotifySocket implements ServiceManager {
  #failed: ((error: unknown) => void) | undefined;
  /** Messages arrive in the order they were sent in. */
  #sent: Promise<unknown> = Promise.resolve();

  constructor(
    readonly socket: Deno.DatagramConn,
    readonly path: string,
    readonly watchdogMs: number | undefined,
    failed: (error: unknown) => void,
  ) {
    this.#failed = failed;
  }

  ready(status: string): void {
    this.#send("READY=1", `STATUS=${status.replaceAll(/\s+/g, " ")}`);
  }

  reloading(): void {
    this.#send("RELOADING=1", "STATUS=Reading the configuration again");
  }

  stopping(afterSeconds: number): void {
    if (afterSeconds === 0) return this.#send("STOPPING=1", "STATUS=Requests under way finish");
    const within = (afterSeconds + STOP_SECONDS) * 1_000_000;
    this.#send("STOPPING=1", `EXTEND_TIMEOUT_USEC=${within}`, `STATUS=Draining for ${afterSeconds} s`);
  }

  alive(): void {
    this.#send("WATCHDOG=1");
  }

  close(): void {
    void this.#sent.finally(() => this.socket.close());
  }

  #send(...assignments: readonly string[]): void {
    const message = new TextEncoder().encode(assignments.join("\n"));
    this.#sent = this.#sent
      .then(() => this.socket.send(message, { transport: "unixpacket", path: this.path }))
      .catch((error) => {
        this.#failed?.(error);
        this.#failed = undefined;
      });
  }
}
