import { coalescedInterval } from "../model/clock.ts";
import { closeQuietly } from "../model/regular_file.ts";

/** Interval and timeout of probes, in milliseconds. */
const EVERY_MS = 5_000;
const ANSWER_MS = 5_000;
const MAX_UNANSWERED = 2; // failed probes in a row that mean a dead listener

export interface Listening {
  readonly address: string; // as configured; for the wildcard address, the check connects to an address of this host
  readonly port: number;
}

interface PortWatchParts<T extends Listening> {
  readonly current: () => T | undefined; // returns the present listener
  readonly onUnresponsive: (listener: T) => void; // called with a listener that no longer accepts connections
  /** Whether the listener accepts a connection; default {@link acceptsConnections}. */
  readonly probe?: (listener: Listening) => Promise<boolean>;
  readonly everyMs?: number;
}

/** Probes our ports: when file descriptors run out, the platform stops a listener silently while its worker lives. */
export class PortWatch<T extends Listening> {
  readonly #parts: Required<PortWatchParts<T>>;
  readonly close: () => void;
  #probed: T | undefined;
  #unanswered = 0;
  #probing = false;

  constructor(parts: PortWatchParts<T>) {
    this.#parts = { probe: acceptsConnections, everyMs: EVERY_MS, ...parts };
    this.close = coalescedInterval(this.#parts.everyMs, () => void this.#probe());
  }

  async #probe(): Promise<void> {
    const { current, onUnresponsive, probe } = this.#parts;
    const listener = current();
    if (listener === undefined || this.#probing) return;
    this.#probing = true;
    const answers = await probe(listener);
    this.#probing = false;
    if (listener !== this.#probed || answers) this.#unanswered = 0;
    this.#probed = listener;
    if (answers || ++this.#unanswered < MAX_UNANSWERED || current() !== listener) return;
    this.#unanswered = 0;
    onUnresponsive(listener);
  }
}

/** Connects and disconnects; listeners log nothing. Returns `true` also if no connection can be made from here. */
export async function acceptsConnections({ address, port }: Listening, waitMs = ANSWER_MS): Promise<boolean> {
  const hostname = address === "0.0.0.0" ? "127.0.0.1" : address === "::" ? "::1" : address;
  const { promise: late, resolve } = Promise.withResolvers<boolean>();
  using _timer = setTimeout(() => resolve(false), waitMs);
  try {
    const connected = Deno.connect({ hostname, port });
    connected.then((connection) => late.then(() => closeQuietly(connection)), () => {});
    return await Promise.race([connected.then(answered), late]);
  } catch (error) {
    return !(error instanceof Deno.errors.ConnectionRefused);
  } finally {
    resolve(false); // errors of closing do not matter
  }
}

async function answered(connection: Deno.TcpConn): Promise<boolean> {
  try {
    await connection.closeWrite();
    await connection.read(new Uint8Array(1));
  } catch {
    // A reset is an answer, too.
  }
  return true;
}
