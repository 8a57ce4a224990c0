const STOP_SECONDS = 60; // time to stop after draining, as `TimeoutStopSec` of our unit; we end 10 s earlier
const STOP_MS = (STOP_SECONDS - 10) * 1000;

/** Notifications to the service manager as in sd_notify(3). They never fail the service. */
export class ServiceManager {
  stopMs = STOP_MS; // milliseconds from the end of draining to the exit
  #reported = false; // whether it was reported that the manager is unreachable
  #sent: Promise<unknown> = Promise.resolve(); // keeps messages in order

  /** @param notify Absent: started by hand. @param watchdogMs Interval for {@link alive}; absent: not required. */
  constructor(
    readonly notify?: {
      readonly socket: Deno.DatagramConn;
      readonly path: string;
      readonly failed: (error: unknown) => void;
    },
    readonly watchdogMs?: number,
  ) {}

  /** Reports the end of a start or reload. @param status Line for `systemctl status`. */
  ready(status: string): void {
    this.#send("READY=1", `STATUS=${status.replaceAll(/\s+/g, " ")}`);
  }

  /** Reports a reload; {@link ready} follows in any case. */
  reloading(): void {
    this.#send("RELOADING=1", "STATUS=Reading the configuration again");
  }

  /** @param afterSeconds Drain time before the shutdown. */
  stopping(afterSeconds: number): void {
    if (afterSeconds === 0) return this.#send("STOPPING=1", "STATUS=Requests under way finish");
    const within = (afterSeconds + STOP_SECONDS) * 1_000_000;
    this.#send("STOPPING=1", `EXTEND_TIMEOUT_USEC=${within}`, `STATUS=Draining for ${afterSeconds} s`);
  }

  alive(): void {
    this.#send("WATCHDOG=1");
  }

  close(): void {
    void this.#sent.finally(() => this.notify?.socket.close());
  }

  #send(...assignments: readonly string[]): void {
    if (this.notify === undefined) return;
    const { socket, path, failed } = this.notify;
    const message = new TextEncoder().encode(assignments.join("\n"));
    this.#sent = this.#sent.then(() => socket.send(message, { transport: "unixpacket", path })).catch(
      (error) => {
        if (!this.#reported) failed(error);
        this.#reported = true;
      },
    );
  }
}

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
  if (address === undefined || address === "") return new ServiceManager();
  const path = address.startsWith("@") ? `\0${address.slice(1)}` : address;
  try {
    // Sending needs a named socket; an abstract one leaves no file behind.
    const socket = Deno.listenDatagram({
      transport: "unixpacket",
      path: `\0authserver-${crypto.randomUUID()}`,
    });
    return new ServiceManager({ socket, path, failed }, watchdogMs(environment));
  } catch (error) {
    failed(error);
    return new ServiceManager();
  }
}

function watchdogMs(environment: (name: string) => string | undefined): number | undefined {
  const pid = environment("WATCHDOG_PID");
  const microseconds = environment("WATCHDOG_USEC");
  if (microseconds === undefined || !/^[1-9]\d{0,15}$/.test(microseconds)) return undefined;
  if (pid !== undefined && pid !== String(Deno.pid)) return undefined;
  return Number(microseconds) / 1000;
}
