import type { Socket } from "node:net";
import { coalescedInterval } from "../model/clock.ts";
import type { EdgeLimits } from "./edge_options.ts";

interface Watched {
  pending: boolean; // whether a request is incomplete or unanswered
  moved: number; // bytes moved at the last check
  movedAt: number; // time of the last check that saw traffic, as `performance.now`
}

/** Cuts silent and idle connections, checking all at once: timers of `node:http` cost time per request. */
export class ConnectionWatch {
  readonly #watched = new Map<Socket, Watched>();
  readonly close: () => void;

  /** @param limits May be exceeded by half. @param onCut Called for cuts, except of idle connections. */
  constructor(
    readonly limits: Pick<EdgeLimits, "silentMs" | "keepAliveMs">,
    readonly onCut: (socket: Socket) => void,
  ) {
    const interval = Math.min(limits.silentMs, limits.keepAliveMs) / 4;
    this.close = coalescedInterval(interval, () => this.#check(performance.now()));
  }

  begin(socket: Socket): void {
    const watched = this.#watched.get(socket) ?? this.#watch(socket);
    watched.pending = true;
  }

  end(socket: Socket): void {
    const watched = this.#watched.get(socket);
    if (watched !== undefined) watched.pending = false;
  }

  #watch(socket: Socket): Watched {
    const watched = { pending: false, moved: -1, movedAt: 0 };
    this.#watched.set(socket, watched);
    socket.once("close", () => this.#watched.delete(socket));
    return watched;
  }

  #check(now: number): void {
    const { silentMs, keepAliveMs } = this.limits;
    for (const [socket, watched] of this.#watched) {
      const moved = socket.bytesRead + socket.bytesWritten - socket.writableLength;
      const since = now - watched.movedAt;
      if (moved !== watched.moved) {
        watched.moved = moved;
        watched.movedAt = now;
      } else if (!watched.pending) {
        if (since >= keepAliveMs) socket.destroy();
      } else if (since >= silentMs) {
        this.onCut(socket);
        socket.destroy();
      }
    }
  }
}
