import { inTime } from "../fixtures/deadline.ts";

/** Stand-in for the service manager that receives the datagrams to its socket. */
export class Notified implements AsyncDisposable {
  readonly #socket: Deno.DatagramConn;
  readonly #folder: string | undefined;
  /** Value of `NOTIFY_SOCKET`. */
  readonly address: string;

  private constructor(address: string, path: string, folder: string | undefined) {
    this.address = address;
    this.#folder = folder;
    this.#socket = Deno.listenDatagram({ transport: "unixpacket", path });
  }

  static async atPath(): Promise<Notified> {
    const folder = await Deno.makeTempDir();
    return new Notified(`${folder}/notify`, `${folder}/notify`, folder);
  }

  static abstract(): Notified {
    const name = `notified-${crypto.randomUUID()}`;
    return new Notified(`@${name}`, `\0${name}`, undefined);
  }

  async next(withinMs?: number): Promise<string> {
    const [bytes] = await inTime(this.#socket.receive(), "a message to the service manager", withinMs);
    return new TextDecoder().decode(bytes);
  }

  /** Returns the next datagram that is not for the watchdog. */
  async nextChange(): Promise<string> {
    for (;;) {
      const message = await this.next();
      if (message !== "WATCHDOG=1") return message;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#socket.close();
    if (this.#folder !== undefined) await Deno.remove(this.#folder, { recursive: true });
  }
}
