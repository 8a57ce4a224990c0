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
import { RateLimitedLog } from "../logging/rate_limited_log.ts";
import { Counters, type Increments, methodLabel } from "../metrics/counters.ts";
import { addCommonHeaders, type HeaderContext, PLAIN_POLICY } from "../model/response_headers.ts";
import { type Handler, HeaderList, type HttpResponse, type Peer } from "../model/http_message.ts";
import type { Clock } from "../model/clock.ts";
import { HttpError, httpError, isHttpError } from "../model/http_error.ts";
import { AnswerText, ResponseWriter } from "./response_writer.ts";
import { ConnectionWatch } from "./connection_watch.ts";
import { BodyDrainer, bodyOf } from "./request_body.ts";
import type { EdgeOptions, EdgeTls } from "./edge_options.ts";
import { ConnectionLimiter, type ConnectionLimiterParts } from "./connection_limiter.ts";
import { rawErrorResponse, refusal } from "./error_response.ts";
import { RequestGate } from "./request_gate.ts";
import { readHead } from "./request_head.ts";
import { clientCertificate, ignoredReason, tlsServerOptions } from "./tls_server_options.ts";

const LINGER_MS = 2_000; // time for a refused client to read the response
const PEER_CACHE_MS = 60_000; // cache time of checked certificates
const UNREAD: HeaderContext = { method: undefined, headers: new HeaderList() };

interface EdgeParts extends Pick<ConnectionLimiterParts, "groupOf"> {
  readonly clock?: Clock; // for certificate validity
  readonly answer: Handler;
  readonly log: Logger;
}

/** HTTPS server: enforces limits, forwards requests, writes responses. */
export class HttpsEdge {
  readonly #server: Server | HttpsServer;
  readonly #limitedLog: RateLimitedLog;
  readonly #connectionLimiter: ConnectionLimiter;
  readonly #connections: ConnectionWatch;
  readonly #gates = new Map<Socket, RequestGate>(); // of all open connections
  readonly #peers = new WeakMap<Socket, { peer: Peer; tls: EdgeTls | undefined; until: number }>();
  readonly #refusals = new Counters();
  readonly #drainer = new BodyDrainer();
  readonly #texts: AnswerText;
  #tls: EdgeTls | undefined;
  #pending = 0;
  #closing = false;
  #onIdle: (() => void) | undefined;

  private constructor(readonly options: EdgeOptions, readonly parts: EdgeParts) {
    const { tls, limits } = options;
    const { log, groupOf } = parts;
    this.#limitedLog = new RateLimitedLog(log);
    this.#tls = tls;
    this.#texts = new AnswerText(["Keep-Alive", `timeout=${Math.floor(limits.keepAliveMs / 1000)}`]);
    const settings = {
      maxHeaderSize: limits.headerBytes,
      headersTimeout: limits.headersMs,
      requestTimeout: 0, // readers of bodies have timeouts
      keepAliveTimeout: 0, // see the connection watch
      connectionsCheckingInterval: limits.checkMs,
      requireHostHeader: false, // checked with the head
    };
    const server = this.#server = tls === undefined
      ? createHttpServer(settings)
      : createHttpsServer({ ...settings, handshakeTimeout: limits.handshakeMs, ...tlsServerOptions(tls) });
    this.#connections = new ConnectionWatch(limits, (socket) => {
      this.#limitedLog.write("connection cut", {
        client: this.#connectionLimiter.clientOf(socket),
        reason: "silent",
      });
    });
    server.on(tls === undefined ? "connection" : "secureConnection", (socket: Socket) => this.#guard(socket));
    this.#connectionLimiter = new ConnectionLimiter(options, {
      groupOf,
      refused: (message, fields) => this.#limitedLog.write(message, fields),
    });
    this.#connectionLimiter.guard(server);
    for (const event of ["request", "checkContinue", "checkExpectation"] as const) {
      server.on(event, (request, response) => void this.#serve(request, response));
    }
    server.on("clientError", (error: Error, socket: Socket) => this.#unreadable(error, socket));
    server.on("secureConnection", (socket: TLSSocket) => {
      if (!this.#lacksCertificate(socket)) return;
      this.#limitedLog.write("client without a certificate of an authority", {
        client: this.#connectionLimiter.clientOf(socket),
      });
      socket.destroy();
    });
    server.on("tlsClientError", (error: Error, socket: Socket) => {
      const client = this.#connectionLimiter.clientOf(socket);
      log.debug("TLS handshake failed", { client, error: error.message });
      socket.destroy();
    });
  }

  /** @throws Errors of listening, such as `EADDRINUSE`. */
  static async start(options: EdgeOptions, parts: EdgeParts): Promise<HttpsEdge> {
    const edge = new HttpsEdge(options, parts);
    await new Promise<void>((resolve, reject) => {
      edge.#server.once("error", reject);
      edge.#server.listen({ host: options.address, port: options.port, backlog: 1024 }, resolve);
    });
    return edge;
  }

  get port(): number {
    const address = this.#server.address();
    return typeof address === "object" && address !== null ? address.port : 0;
  }

  counted(): Increments {
    return this.#refusals.take();
  }

  renewTls(tls: EdgeTls): void {
    if ("setSecureContext" in this.#server) this.#server.setSecureContext(tlsServerOptions(tls));
    this.#tls = tls; // last, so that an unusable one changes nothing
  }

  /** Closes connections after their next response, so that clients reconnect elsewhere; still accepts new ones. */
  leave(): void {
    this.#closing = true;
  }

  /** Stops accepting and completes running requests, at most for `withinMs`, then closes. */
  async drain(withinMs: number): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    const idle = new Promise<void>((resolve) => {
      this.#closing = true;
      this.#onIdle = resolve;
      if (this.#pending === 0) resolve();
    });
    const { promise: late, resolve } = Promise.withResolvers<void>();
    using _timer = setTimeout(resolve, withinMs);
    this.#server.closeIdleConnections();
    await Promise.race([idle, late]);
    for (const socket of this.#gates.keys()) socket.destroySoon(); // sends what its client has not read yet
    await Promise.race([closed, late]);
    this.#server.closeAllConnections();
    await closed;
    this.#connections.close();
    this.#limitedLog.flush();
  }

  #guard(socket: Socket): void {
    if (!this.#server.listening) socket.destroy(); // its handshake took until now
    if (socket.destroyed) return;
    this.#connectionLimiter.clientOf(socket); // caches the address, also for use after the connection ends
    const gate = new RequestGate(
      socket,
      (error) => this.#refuse(error, socket),
      this.options.limits.headersMs,
    );
    this.#gates.set(socket, gate);
    socket.once("close", () => this.#gates.delete(socket));
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { socket } = request;
    const gate = this.#gates.get(socket);
    if (gate === undefined || !socket.writable || this.#lacksCertificate(socket) || !gate.begin(request)) {
      socket.destroy();
      return;
    }
    this.#connections.begin(socket);
    gate.response = response;
    this.#pending++;
    const disconnected = new AbortController();
    const responseWriter = new ResponseWriter(
      { request, response, gate, drainer: this.#drainer },
      this.#texts,
    );
    response.once("close", () => {
      this.#connections.end(socket);
      gate.response = undefined;
      if (!responseWriter.complete) disconnected.abort();
      gate.answered();
    });
    try {
      const answer = await this.#respond(request, response, { gate, signal: disconnected.signal });
      if (gate.closed) disconnected.abort(); // the client got an error already
      else await responseWriter.send(answer);
    } catch (error) {
      if (!disconnected.signal.aborted) this.parts.log.warn("response not sent whole", { error });
      response.destroy();
    } finally {
      if (!request.complete) void this.#drainer.drainBody(request, gate);
      this.#pending--;
      if (this.#pending === 0) this.#onIdle?.();
    }
  }

  async #respond(
    request: IncomingMessage,
    response: ServerResponse,
    { gate, signal }: { readonly gate: RequestGate; readonly signal: AbortSignal },
  ): Promise<HttpResponse> {
    if (this.#closing) response.setHeader("Connection", "close");
    const { method = "" } = request;
    const headers = new HeaderList(request.rawHeaders);
    const { policy } = this.options;
    try {
      const target = readHead(request);
      if (method === "TRACE") {
        throw httpError("ERR_METHOD_NOT_ALLOWED", { allowed: "GET, HEAD, POST, PUT, DELETE, OPTIONS" });
      }
      const coming = bodyOf(request, response, gate);
      const body = coming && await coming;
      if (gate.closed) throw httpError("ERR_CLIENT_GONE", "its body is no HTTP");
      const answer = await this.parts.answer(
        { method, ...target, headers, client: this.#peerOf(request.socket), body },
        signal,
      );
      if (policy !== undefined) addCommonHeaders(answer.headers, { method, headers }, policy);
      return answer;
    } catch (error) {
      const known = error instanceof HttpError
        ? error
        : httpError("ERR_INTERNAL", "the request failed at the edge", error);
      const requestId = crypto.randomUUID();
      if (!signal.aborted && !isHttpError(known, "ERR_CLIENT_GONE")) {
        this.#note(known, { requestId, socket: request.socket, method });
      }
      return refusal({ error: known, requestId, by: { method, headers } }, policy ?? PLAIN_POLICY);
    }
  }

  #lacksCertificate(socket: Socket): boolean {
    return this.#tls?.clientCertificate === "required" && this.#peerOf(socket).certificate === undefined;
  }

  /** Returns the peer. Checks its certificate again at an expiry in its path, on new trust, and each minute. */
  #peerOf(socket: Socket): Peer {
    const now = this.parts.clock?.() ?? Date.now();
    const known = this.#peers.get(socket);
    if (known !== undefined && known.tls === this.#tls && now <= known.until) return known.peer;
    const address = this.#connectionLimiter.clientOf(socket);
    const { until, ...shown } = this.#shownBy(socket, address, now);
    const peer = { address, ...shown };
    this.#peers.set(socket, { peer, tls: this.#tls, until });
    if (known?.peer.certificate !== undefined && peer.certificate === undefined) {
      const reason = peer.unusableCertificate;
      this.#limitedLog.write("client certificate is no longer valid", { client: address, reason });
    }
    return peer;
  }

  /** Returns the peer's certificate and the end of its validity, in milliseconds since the epoch. */
  #shownBy(socket: Socket, client: string, now: number): Omit<Peer, "address"> & { readonly until: number } {
    const tls = this.#tls;
    if (!(socket instanceof TLSSocket) || tls === undefined || tls.clientCertificate === "none") {
      return { until: Infinity };
    }
    const shown = clientCertificate(socket, tls, now);
    const reason = shown === undefined ? ignoredReason(socket, now) : undefined;
    if (reason !== undefined) this.#limitedLog.write("client certificate passed over", { client, reason });
    const isKept = shown?.certificate !== undefined;
    const untrusted = reason === undefined ? {} : { untrustedCertificate: reason };
    return {
      ...shown,
      ...untrusted,
      until: isKept ? Math.min(shown?.until ?? Infinity, now + PEER_CACHE_MS) : Infinity,
    };
  }

  #unreadable(error: Error & { code?: string }, socket: Socket): void {
    const gate = this.#gates.get(socket);
    const begun = gate?.begun ?? false;
    gate?.close();
    const late = error.code === "ERR_HTTP_REQUEST_TIMEOUT";
    const answering = gate?.response?.headersSent ?? false;
    if (!socket.writable || error.code === "ECONNRESET" || answering || (late && !begun)) {
      socket.destroy();
      return;
    }
    const oversized = error.code === "HPE_HEADER_OVERFLOW";
    const code = late ? "ERR_REQUEST_TIMEOUT" : oversized ? "ERR_HEADERS_TOO_LARGE" : "ERR_BAD_REQUEST";
    this.#refuse(httpError(code, error.message), socket);
  }

  #refuse(error: HttpError, socket: Socket): void {
    const requestId = crypto.randomUUID();
    this.#note(error, { requestId, socket, method: "" });
    socket.end(rawErrorResponse({ error, requestId, by: UNREAD }, this.options.policy ?? PLAIN_POLICY));
    const timer = setTimeout(() => socket.destroy(), LINGER_MS);
    socket.once("close", () => clearTimeout(timer));
  }

  #note(
    error: HttpError,
    { requestId, socket, method }: {
      readonly requestId: string;
      readonly socket: Socket;
      readonly method: string;
    },
  ): void {
    const labels = { route: "none", method: methodLabel(method), code: String(error.status) };
    this.#refusals.count("authserver_requests_total", labels);
    const client = this.#connectionLimiter.clientOf(socket);
    const fields = { request: requestId, client, status: error.status, error };
    if (isHttpError(error, "ERR_INTERNAL")) this.parts.log.error("request failed at the edge", fields);
    else this.#limitedLog.write("request refused at the edge", fields);
  }
}
