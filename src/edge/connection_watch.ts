import type { Socket } from "node:net";
import type { EdgeLimits } from "./edge_options.ts";

interface Watched {
  /** Whether there is a request that is not answered to the last byte. */
  underWay: boolean;
  /** Bytes that had moved at the last look. */
  moved: number;
  /** Moment of the last look that saw a movement, in milliseconds as `performance.now` counts. */
  movedAt: number;
}

/**
 * Looks after the connections that have brought a request. One on which no byte moves for a time, in either direction, is
 * cut: with requests under way it is silent, without it is idle. All are looked at together now and then: the timeouts of
 * `node:http` are set and cleared for each request, which is dear.
 */
export class ConnectionWatch {
  readonly #limits: Pick<EdgeLimits, "silentMs" | "keepAliveMs">;
  readonly #told: (socket: Socket) => void;
  readonly #watched = new Map<Socket, Watched>();
  readonly #timer: ReturnType<typeof setInterval>;

  /**
   * @param limits Cuts come up to half as much later.
   * @param told Told of each cut, but not of the end of an idle connection.
   */
  constructor(
    limits: Pick<EdgeLimits, "silentMs" | "keepAliveMs">,
    told: (socket: Socket) => void,
  ) {
    this.#limits = limits;
    this.#told = told;
    const interval = Math.min(limits.silentMs, limits.keepAliveMs) / 4;
    this.#timer = setInterval(() => this.#look(performance.now()), interval);
  }

  /** A request has arrived. */
  begin(socket: Socket): void {
    const watched = this.#watched.get(socket) ?? this.#watch(socket);
    watched.underWay = true;
  }

  /** A request is answered, or its client gone. */
  end(socket: Socket): void {
    const watched = this.#watched.get(socket);
    if (watched !== undefined) watched.underWay = false;
  }

  close(): void {
    clearInterval(this.#timer);
  }

  #watch(socket: Socket): Watched {
    const watched = { underWay: false, moved: -1, movedAt: 0 };
    this.#watched.set(socket, watched);
    socket.once("close", () => this.#watched.delete(socket));
    return watched;
  }

  #look(now: number): void {
    const { silentMs, keepAliveMs } = this.#limits;
    for (const [socket, watched] of this.#watched) {
      const moved = socket.bytesRead + socket.bytesWritten - socket.writableLength;
      const since = now - watched.movedAt;
      if (moved !== watched.moved) {
        watched.moved = moved;
        watched.movedAt = now;
      } else if (!watched.underWay) {
        if (since >= keepAliveMs) socket.destroy();
      } else if (since >= silentMs) {
        this.#told(socket);
        socket.destroy();
      }
    }
  }
}
