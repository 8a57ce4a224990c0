import type { Socket } from "node:net";

interface Watched {
  /** Requests that are not answered to the last byte. */
  underWay: number;
  /** Bytes that had moved at the last look. */
  moved: number;
  /** Moment of the last look that saw a movement, in milliseconds as `performance.now` counts. */
  movedAt: number;
}

/** Why a connection was cut; for the log. */
export type CutReason = "silent" | "too many requests at once";

/**
 * Requests on one connection that may be under way at once. Clients of this service wait for each answer; one that sends
 * on and on without reading would have us keep all of it in memory. One that has its answer may be heard again before the
 * end of that answer is noticed here; hence not 1.
 */
const MOST_UNDER_WAY = 4;

/**
 * Looks after the connections that have requests under way. One on which no byte moves for a time, in either direction,
 * is cut. All are looked at together now and then: the timeouts of `node:http`, which are set and cleared for each
 * request, cost a third of its processor time.
 */
export class ConnectionWatch {
  readonly #silentMs: number;
  readonly #cut: (socket: Socket, reason: CutReason) => void;
  readonly #watched = new Map<Socket, Watched>();
  readonly #timer: ReturnType<typeof setInterval>;

  /**
   * @param silentMs Longest silence; cuts come up to half as much later.
   * @param told Told of each cut.
   */
  constructor(silentMs: number, told: (socket: Socket, reason: CutReason) => void) {
    this.#silentMs = silentMs;
    this.#cut = (socket, reason) => {
      told(socket, reason);
      this.#watched.delete(socket);
      socket.destroy();
    };
    this.#timer = setInterval(() => this.#look(performance.now()), silentMs / 2);
  }

  /** A request has arrived. @returns Whether it may be answered; otherwise its connection is gone. */
  begin(socket: Socket): boolean {
    if (socket.destroyed) return false;
    const watched = this.#watched.get(socket);
    if (watched === undefined) this.#watched.set(socket, { underWay: 1, moved: -1, movedAt: 0 });
    else if (++watched.underWay > MOST_UNDER_WAY) this.#cut(socket, "too many requests at once");
    return !socket.destroyed;
  }

  /** A request is answered, or its client gone. */
  end(socket: Socket): void {
    const watched = this.#watched.get(socket);
    if (watched !== undefined && --watched.underWay === 0) this.#watched.delete(socket);
  }

  close(): void {
    clearInterval(this.#timer);
  }

  #look(now: number): void {
    for (const [socket, watched] of this.#watched) {
      if (socket.destroyed) {
        this.#watched.delete(socket);
        continue;
      }
      const moved = socket.bytesRead + socket.bytesWritten - socket.writableLength;
      if (moved !== watched.moved) {
        watched.moved = moved;
        watched.movedAt = now;
      } else if (now - watched.movedAt >= this.#silentMs) this.#cut(socket, "silent");
    }
  }
}
