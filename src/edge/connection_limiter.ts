import { Buffer } from "node:buffer";
import type { Server, Socket } from "node:net";
import type { Fields } from "../logging/logger.ts";
import { addressInRange, peerAddress } from "../model/address.ts";
import type { EdgeOptions } from "./edge_options.ts";
import { readProxyHeader } from "./proxy_header.ts";

export interface ConnectionLimiterParts {
  /** Returns the group of an address, which is limited as one client. @param address Canonical. */
  readonly groupOf: (address: string) => string;
  /** Called for each refused connection. @param fields Client and details. */
  readonly refused: (message: string, fields: Fields) => void;
}

/** Limits connections per client, for listed proxies by the PROXY header; before the header, only in total. */
export class ConnectionLimiter {
  readonly #shares: ConnectionShares;
  /** Client addresses by both ends, since the TLS socket is another object. */
  readonly #clients = new Map<string, string>();
  readonly #known = new WeakMap<Socket, string>(); // looked-up addresses, which outlive the connection

  constructor(readonly options: EdgeOptions, readonly parts: ConnectionLimiterParts) {
    this.#shares = new ConnectionShares(options.maxConnections);
  }

  /** Intercepts connections before the server's own listeners. */
  guard(server: Pick<Server, "listeners" | "removeAllListeners" | "on">): void {
    const inside = server.listeners("connection");
    server.removeAllListeners("connection");
    server.on("connection", (socket: Socket) => {
      this.#arrive(socket, () => inside.forEach((take) => take.call(server, socket)));
    });
  }

  /** Returns the client's canonical address; empty if unknown. */
  clientOf(socket: Socket): string {
    if (this.options.proxyPeers === undefined) return peerAddress(socket.remoteAddress ?? "");
    const client = this.#known.get(socket) ?? this.#clients.get(endsOf(socket));
    if (client !== undefined) this.#known.set(socket, client);
    return client ?? "";
  }

  #arrive(socket: Socket, enter: () => void): void {
    const peer = peerAddress(socket.remoteAddress ?? "");
    const { proxyPeers } = this.options;
    const isProxy = proxyPeers?.some((range) => addressInRange(peer, range)) ?? false;
    if (!this.#shares.admit(socket, isProxy ? undefined : this.#groupOf(peer))) {
      this.#refuse(socket, TOO_MANY, { client: peer });
    } else if (proxyPeers === undefined) enter();
    else this.#readHeader(socket, { peer, isProxy, enter });
  }

  #readHeader(socket: Socket, { peer, isProxy, enter }: Arrival): void {
    const refuse = (message: string, reason?: string) => {
      stop();
      this.#refuse(socket, message, { client: peer, reason });
    };
    let read: Buffer | undefined;
    const take = (bytes: Buffer) => {
      read = read === undefined ? bytes : Buffer.concat([read, bytes]);
      const header = readProxyHeader(read);
      if (header.kind === "begun") return;
      if (isProxy && header.kind === "malformed") return refuse(MALFORMED, header.reason);
      if (isProxy && header.kind === "absent") return refuse(MISSING);
      if (!isProxy && header.kind !== "absent") return refuse(UNEXPECTED);
      stop();
      const [client, length] = header.kind === "whole" ? [header.client ?? peer, header.length] : [peer, 0];
      if (isProxy && !this.#shares.assign(socket, this.#groupOf(client))) {
        return this.#refuse(socket, TOO_MANY, { client });
      }
      this.#remember(socket, client);
      if (read.length > length) socket.unshift(read.subarray(length));
      enter();
      if (this.options.tls === undefined) socket.resume(); // TLS reads below the socket, which must be idle
    };
    const disconnected = () => {
      stop();
      socket.destroy();
    };
    const timer = setTimeout(
      () => isProxy ? refuse(LATE) : disconnected(),
      this.options.limits.handshakeMs,
    );
    const stop = () => {
      clearTimeout(timer);
      socket.pause();
      socket.off("data", take).off("end", disconnected).off("error", disconnected).off("close", disconnected);
    };
    socket.on("data", take).on("end", disconnected).on("error", disconnected).on("close", disconnected);
  }

  #remember(socket: Socket, client: string): void {
    const ends = endsOf(socket);
    this.#known.set(socket, client);
    this.#clients.set(ends, client);
    socket.once("close", () => this.#clients.delete(ends));
  }

  #refuse(socket: Socket, message: string, fields: Fields): void {
    socket.destroy();
    this.parts.refused(message, fields);
  }

  #groupOf(address: string): string | undefined {
    const { proxies = [] } = this.options;
    return proxies.some((range) => addressInRange(address, range)) ? undefined : this.parts.groupOf(address);
  }
}

interface Arrival {
  readonly peer: string;
  readonly isProxy: boolean;
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

interface Connection {
  once(event: "close", listener: () => void): unknown;
}

/** Fair shares of connections: no group holds more than are free (dynamic thresholds, as in switch buffers). */
export class ConnectionShares {
  readonly #most: number;
  readonly #open = new Map<string, number>();
  readonly #groups = new WeakMap<Connection, string | undefined>();
  #count = 0;

  /** @param most Total; 0: no limit. */
  constructor(most: number) {
    this.#most = most === 0 ? Infinity : most;
  }

  /** Admits a connection until it closes. @param group Client; `undefined` for gateways, which have no limit. */
  admit(socket: Connection, group: string | undefined): boolean {
    if (!this.#hasSpace(group, this.#count)) return false;
    this.#count++;
    this.#enter(socket, group);
    socket.once("close", () => {
      this.#count--;
      this.#leave(socket);
    });
    return true;
  }

  assign(socket: Connection, group: string | undefined): boolean {
    this.#leave(socket);
    const fits = this.#hasSpace(group, this.#count - 1);
    this.#enter(socket, fits ? group : undefined);
    return fits;
  }

  #hasSpace(group: string | undefined, others: number): boolean {
    return this.#most - others > (group === undefined ? 0 : this.#open.get(group) ?? 0);
  }

  #enter(socket: Connection, group: string | undefined): void {
    this.#groups.set(socket, group);
    if (group !== undefined) this.#open.set(group, (this.#open.get(group) ?? 0) + 1);
  }

  #leave(socket: Connection): void {
    const group = this.#groups.get(socket);
    if (group === undefined) return;
    const left = (this.#open.get(group) ?? 1) - 1;
    if (left === 0) this.#open.delete(group);
    else this.#open.set(group, left);
  }
}
