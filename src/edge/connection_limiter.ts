import { Buffer } from "node:buffer";
import type { Server, Socket } from "node:net";
import type { Fields } from "../logging/logger.ts";
import { addressInRange, peerAddress } from "../model/address.ts";
import { ConnectionShares } from "./connection_shares.ts";
import type { EdgeOptions } from "./edge_options.ts";
import { readProxyHeader } from "./proxy_header.ts";

/** What an entrance needs of the house. */
export interface ConnectionLimiterParts {
  /** Addresses that are taken for one client. @param address In canonical form. */
  readonly groupOf: (address: string) => string;
  /** Told of each connection that is not let in. @param fields The client as far as it is known, and particulars. */
  readonly refused: (message: string, fields: Fields) => void;
}

/**
 * Lets connections in: so many of each client, and those of listed proxies once they have said for whom they come (PROXY
 * protocol). Before that, such a connection counts among all there may be, for as long as a handshake may take.
 */
export class ConnectionLimiter {
  readonly #options: EdgeOptions;
  readonly #parts: ConnectionLimiterParts;
  readonly #shares: ConnectionShares;
  /** Addresses of clients, by both ends of the connection: what speaks TLS on it is another object. */
  readonly #clients = new Map<string, string>();
  /** The same, once somebody has asked; for longer than the connection lasts. */
  readonly #known = new WeakMap<Socket, string>();

  constructor(options: EdgeOptions, parts: ConnectionLimiterParts) {
    this.#options = options;
    this.#parts = parts;
    this.#shares = new ConnectionShares(options.maxConnections);
  }

  /** Takes its place before those who take connections from a server. */
  guard(server: Pick<Server, "listeners" | "removeAllListeners" | "on">): void {
    const inside = server.listeners("connection");
    server.removeAllListeners("connection");
    server.on("connection", (socket: Socket) => {
      this.#arrive(socket, () => inside.forEach((take) => take.call(server, socket)));
    });
  }

  /** Address of the client in canonical form; empty if it is not known any more. */
  clientOf(socket: Socket): string {
    if (this.#options.proxyPeers === undefined) return peerAddress(socket.remoteAddress ?? "");
    const client = this.#known.get(socket) ?? this.#clients.get(endsOf(socket));
    if (client !== undefined) this.#known.set(socket, client);
    return client ?? "";
  }

  #arrive(socket: Socket, enter: () => void): void {
    const peer = peerAddress(socket.remoteAddress ?? "");
    const { proxyPeers } = this.#options;
    const speaksForOthers = proxyPeers?.some((range) => addressInRange(peer, range)) ?? false;
    if (!this.#shares.admit(socket, speaksForOthers ? undefined : this.#groupOf(peer))) {
      this.#httpError(socket, TOO_MANY, { client: peer });
    } else if (proxyPeers === undefined) enter();
    else this.#readHeader(socket, { peer, speaksForOthers, enter });
  }

  /** Those of whom nobody expects a header could send one all the same: that goes no further. */
  #readHeader(socket: Socket, { peer, speaksForOthers, enter }: Arrival): void {
    const httpError = (message: string, reason?: string) => {
      stop();
      this.#httpError(socket, message, { client: peer, reason });
    };
    let read: Buffer | undefined;
    const take = (bytes: Buffer) => {
      read = read === undefined ? bytes : Buffer.concat([read, bytes]);
      const header = readProxyHeader(read);
      if (header.kind === "begun") return;
      if (speaksForOthers && header.kind === "malformed") return httpError(MALFORMED, header.reason);
      if (speaksForOthers && header.kind === "absent") return httpError(MISSING);
      if (!speaksForOthers && header.kind !== "absent") return httpError(UNEXPECTED);
      stop();
      const [client, length] = header.kind === "whole" ? [header.client ?? peer, header.length] : [peer, 0];
      if (speaksForOthers && !this.#shares.assign(socket, this.#groupOf(client))) {
        return this.#httpError(socket, TOO_MANY, { client });
      }
      this.#remember(socket, client);
      if (read.length > length) socket.unshift(read.subarray(length));
      enter();
      if (this.#options.tls === undefined) socket.resume(); // TLS reads below the socket, and must find it at rest
    };
    const gone = () => {
      stop();
      socket.destroy();
    };
    const timer = setTimeout(
      () => speaksForOthers ? httpError(LATE) : gone(),
      this.#options.limits.handshakeMs,
    );
    const stop = () => {
      clearTimeout(timer);
      socket.pause();
      socket.off("data", take).off("end", gone).off("error", gone).off("close", gone);
    };
    socket.on("data", take).on("end", gone).on("error", gone).on("close", gone);
  }

  #remember(socket: Socket, client: string): void {
    const ends = endsOf(socket);
    this.#known.set(socket, client);
    this.#clients.set(ends, client);
    socket.once("close", () => this.#clients.delete(ends));
  }

  #httpError(socket: Socket, message: string, fields: Fields): void {
    socket.destroy();
    this.#parts.refused(message, fields);
  }

  #groupOf(address: string): string | undefined {
    const { proxies = [] } = this.#options;
    return proxies.some((range) => addressInRange(address, range)) ? undefined : this.#parts.groupOf(address);
  }
}

interface Arrival {
  readonly peer: string;
  /** Whether the peer is a proxy that says for whom it comes. */
  readonly speaksForOthers: boolean;
  readonly enter: () => void;
}

const TOO_MANY = "connection refused, there are too many";
const MISSING = "connection refused, a listed peer sent no PROXY protocol header";
const MALFORMED = "connection refused, a listed peer sent a PROXY protocol header that is malformed";
const LATE = "connection refused, a listed peer sent no whole PROXY protocol header in time";
const UNEXPECTED = "connection refused, a peer that is not listed sent a PROXY protocol header";

function endsOf({ remoteAddress, remotePort, localAddress }: Socket): string {
  return `${remoteAddress} ${remotePort} ${localAddress}`;
}
