/** Notifications to the service manager as in sd_notify(3). They never fail the service. */
export interface ServiceManager {
  /** Interval for {@link alive} in milliseconds; absent: not required. */
  readonly watchdogMs: number | undefined;
  readonly stopMs: number; // milliseconds from the end of draining to the exit
  /** Reports the end of a start or reload. @param status Line for `systemctl status`. */
  ready(status: string): void;
  /** Reports a reload; {@link ready} follows in any case. */
  reloading(): void;
  /** @param afterSeconds Drain time before the shutdown. */
  stopping(afterSeconds: number): void;
  alive(): void;
  close(): void;
}

/** Time to stop after draining, as `TimeoutStopSec` of our unit; we end 10 s earlier. */
const STOP_SECONDS = 60;
const STOP_MS = (STOP_SECONDS - 10) * 1000;

/** Manager for services started by hand or script. */
export const NO_SERVICE_MANAGER: ServiceManager = {
  watchdogMs: undefined,
  stopMs: STOP_MS,
  ready() {},
  reloading() {},
  stopping() {},
  alive() {},
  close() {},
};

/**
 * Connects to the service manager in the environment: `NOTIFY_SOCKET` is a path, or with a leading `@` an abstract name, of
 * a datagram socket; `WATCHDOG_USEC` applies to the process `WATCHDOG_PID`, if set (sd_notify(3), sd_watchdog_enabled(3)).
 * Never sends `MONOTONIC_USEC`, which only `notify-reload` units need: the runtime lacks that clock. @param failed Called
 * once if the manager is unreachable.
 */
export function connectServiceManager(
  environment: (name: string) => string | undefined,
  failed: (error: unknown) => void,
): ServiceManager {
  const address = environment("NOTIFY_SOCKET");
  if (address === undefined || address === "") return NO_SERVICE_MANAGER;
  const path = address.startsWith("@") ? `\0${address.slice(1)}` : address;
  try {
    // Sending needs a named socket; an abstract one leaves no file behind.
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
  readonly stopMs = STOP_MS;
  #failed: ((error: unknown) => void) | undefined;
  #sent: Promise<unknown> = Promise.resolve(); // keeps messages in order

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
