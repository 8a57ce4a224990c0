import {
  createServer as createHttpServer,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from "node:http";
import { createServer as createHttpsServer, type Server as HttpsServer } from "node:https";
import type { Socket } from "node:net";
import { TLSSocket } from "node:tls";
import type { Logger } from "../logging/logger.ts";
import type { Peer } from "../model/peer.ts";
import { ServiceError } from "../model/service_error.ts";
import type { EdgeLimits, EdgeOptions, EdgeTls } from "./edge_options.ts";
import type { Answer, EdgeResponse } from "./message.ts";
import { readBody } from "./read_body.ts";
import { readHead } from "./request_head.ts";
import { Delivery } from "./delivery.ts";
import { discardRest } from "./discard_rest.ts";
import {
  ClientGone,
  EdgeFailure,
  HeadersTooLarge,
  MethodForbidden,
  NotHttp,
  rawRefusal,
  refusal,
} from "./refusal.ts";
import { ConnectionWatch } from "./connection_watch.ts";
import { clientCertificate, tlsServerOptions } from "./tls_server_options.ts";

/** The HTTPS server that faces the world: keeps the limits, hands requests on, writes the answers. */
export class HttpsEdge {
  readonly #server: Server | HttpsServer;
  readonly #answer: Answer;
  readonly #log: Logger;
  readonly #limits: EdgeLimits;
  readonly #connections: ConnectionWatch;
  readonly #peers = new WeakMap<Socket, Peer>();
  /** Header that tells clients how long an idle connection is kept, where it is kept. */
  readonly #keepAlive: readonly string[];
  #underWay = 0;
  #draining: (() => void) | undefined;

  private constructor({ tls, maxConnections, limits }: EdgeOptions, answer: Answer, log: Logger) {
    this.#answer = answer;
    this.#log = log;
    this.#limits = limits;
    this.#keepAlive = ["Keep-Alive", `timeout=${Math.floor(limits.keepAliveMs / 1000)}`];
    const server = {
      maxHeaderSize: limits.headerBytes,
      headersTimeout: limits.headersMs,
      requestTimeout: 0, // bodies have a limit of their own, since share uploads take their time
      keepAliveTimeout: 0, // looked after by the connection watch
      connectionsCheckingInterval: limits.checkMs,
      requireHostHeader: false, // checked with the rest of the head
    };
    this.#server = tls === undefined
      ? createHttpServer(server)
      : createHttpsServer({ ...server, handshakeTimeout: limits.handshakeMs, ...tlsServerOptions(tls) });
    if (maxConnections > 0) this.#server.maxConnections = maxConnections;
    this.#connections = new ConnectionWatch(limits, (socket, reason) => {
      this.#log.info("connection cut", { client: socket.remoteAddress, reason });
    });
    this.#server.on("request", (request, response) => void this.#serve(request, response));
    this.#server.on("checkContinue", (request, response) => void this.#serve(request, response));
    this.#server.on("checkExpectation", (request, response) => void this.#serve(request, response));
    this.#server.on("clientError", (error: Error, socket: Socket) => this.#refuse(error, socket));
    this.#server.on("tlsClientError", (error: Error, socket: Socket) => {
      this.#log.debug("TLS handshake failed", { client: socket.remoteAddress, error: error.message });
      socket.destroy();
    });
  }

  /** @throws What listening throws, such as `EADDRINUSE`. */
  static async start(options: EdgeOptions, answer: Answer, log: Logger): Promise<HttpsEdge> {
    const edge = new HttpsEdge(options, answer, log);
    await new Promise<void>((resolve, reject) => {
      edge.#server.once("error", reject);
      edge.#server.listen({ host: options.address, port: options.port, backlog: 1024 }, resolve);
    });
    return edge;
  }

  /** Port in use, also when the system chose it. */
  get port(): number {
    const address = this.#server.address();
    return typeof address === "object" && address !== null ? address.port : 0;
  }

  /** Shows another certificate from the next handshake on. */
  renewTls(tls: EdgeTls): void {
    if ("setSecureContext" in this.#server) this.#server.setSecureContext(tlsServerOptions(tls));
  }

  /**
   * Takes no more connections, lets the requests under way finish, then closes.
   * @param withinMs After that time whatever is left is cut.
   */
  async drain(withinMs: number): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    const idle = new Promise<void>((resolve) => {
      this.#draining = resolve;
      if (this.#underWay === 0) resolve();
    });
    let timer: ReturnType<typeof setTimeout> | undefined;
    const late = new Promise<void>((resolve) => timer = setTimeout(resolve, withinMs));
    this.#server.closeIdleConnections();
    await Promise.race([idle, late]);
    clearTimeout(timer);
    this.#server.closeAllConnections();
    await closed;
    this.#connections.close();
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (!this.#connections.begin(request.socket)) return;
    this.#underWay++;
    const gone = new AbortController();
    const delivery = new Delivery(request, response, this.#keepAlive);
    response.once("close", () => {
      this.#connections.end(request.socket);
      if (!delivery.complete) gone.abort();
    });
    try {
      await delivery.send(await this.#respond(request, response, gone.signal));
    } catch (error) {
      if (!gone.signal.aborted) this.#log.warn("response not sent whole", { error });
      response.destroy();
    } finally {
      if (!request.complete) void discardRest(request);
      this.#underWay--;
      if (this.#underWay === 0) this.#draining?.();
    }
  }

  async #respond(
    request: IncomingMessage,
    response: ServerResponse,
    signal: AbortSignal,
  ): Promise<EdgeResponse> {
    if (this.#draining !== undefined) response.setHeader("Connection", "close");
    try {
      const target = readHead(request);
      if (request.method === "TRACE" || request.method === "TRACK") throw new MethodForbidden();
      if (request.headers.expect !== undefined) response.writeContinue();
      return await this.#answer({
        method: request.method ?? "GET",
        target,
        headers: request.rawHeaders,
        peer: this.#peerOf(request.socket),
        body: await readBody(request, this.#limits),
      }, signal);
    } catch (error) {
      const known = error instanceof ServiceError
        ? error
        : new EdgeFailure("the request failed at the edge", { cause: error });
      const requestId = crypto.randomUUID();
      if (!signal.aborted && !(known instanceof ClientGone)) {
        this.#log.warn("request refused at the edge", {
          request: requestId,
          client: request.socket.remoteAddress,
          error: known,
        });
      }
      return refusal(known, requestId);
    }
  }

  /** The other end of a connection; it stays the same as long as the connection does. */
  #peerOf(socket: Socket): Peer {
    const known = this.#peers.get(socket);
    if (known !== undefined) return known;
    const peer = peerOf(socket);
    this.#peers.set(socket, peer);
    return peer;
  }

  /** A connection on which no request could be read: bad bytes, oversized header, too slow. */
  #refuse(error: Error & { code?: string }, socket: Socket): void {
    const Refusal = error.code === "HPE_HEADER_OVERFLOW" ? HeadersTooLarge : NotHttp;
    this.#log.debug("unreadable request", { client: socket.remoteAddress, error: error.message });
    if (socket.writable && error.code !== "ECONNRESET") {
      socket.end(rawRefusal(new Refusal(error.message), crypto.randomUUID()));
    } else socket.destroy();
  }
}

function peerOf(socket: Socket): Peer {
  const address = socket.remoteAddress ?? "";
  const certificate = socket instanceof TLSSocket ? clientCertificate(socket) : undefined;
  return certificate === undefined ? { address } : { address, certificate };
}
