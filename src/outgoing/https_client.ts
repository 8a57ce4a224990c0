import { attempt } from "../model/attempt.ts";
import { Buffer } from "node:buffer";
import { Agent as HttpAgent, type IncomingMessage, request as startPlainRequest } from "node:http";
import { Agent as HttpsAgent, request as startRequest } from "node:https";
import { gunzipSync } from "node:zlib";
import type { Duplex } from "node:stream";
import type { OutgoingConfig } from "../config/service_config.ts";
import type { Logger } from "../logging/logger.ts";
import { printable } from "../model/text.ts";
import {
  connectionOver,
  hasNoAnchors,
  type HttpsTrust,
  openTls,
  type TlsConnection,
  type TlsTarget,
} from "./open_tls.ts";
import type { OutgoingHttp, OutgoingRequest, OutgoingResponse } from "./outgoing.ts";
import { RemoteUnavailable } from "./remote_unavailable.ts";
import { TlsStream } from "./tls_stream.ts";

const MAX_BODY_BYTES = 1024 * 1024;
/** Received bytes, encoded: bounds chunk extensions, which would otherwise keep the core busy unseen. */
const MAX_RECEIVED_BYTES = 2 * MAX_BODY_BYTES;

/** HTTPS client on `node:https` over Deno's TLS: no redirects; gzip is decoded but not requested. `http://` only as configured (`requireHttps()`). */
export class HttpsClient implements OutgoingHttp {
  #agent: HttpsAgent;
  #plainAgent: HttpAgent | undefined; // for systems without TLS, see `requireHttps()`
  #hasNoAnchors = true;

  constructor(readonly config: OutgoingConfig, trust: HttpsTrust, readonly log: Logger) {
    if (config.hostnameChecking === "NONE") {
      log.warn(
        "HOST NAMES OF OUTGOING CONNECTIONS ARE NOT CHECKED: any trusted certificate may pose as any host",
      );
    }
    this.#agent = this.#createAgent(trust);
  }

  /** Uses new certificates; kept connections close when idle. */
  renew(trust: HttpsTrust): void {
    this.#agent = this.#createAgent(trust);
  }

  #createAgent(trust: HttpsTrust): HttpsAgent {
    this.#hasNoAnchors = hasNoAnchors(trust);
    const { hostnameChecking, connectTimeoutMs, proxy } = this.config;
    const rules = { hostnameChecking, trust, log: this.log, proxy, connectTimeoutMs };
    const agent = new HttpsAgent(this.#connections());
    return connecting(agent, connectTimeoutMs, (target, signal) => openTls(target, { ...rules, signal }));
  }

  #createPlainAgent(): HttpAgent {
    return connecting(
      new HttpAgent(this.#connections()),
      this.config.connectTimeoutMs,
      async ({ host: hostname, port }) => connectionOver(await Deno.connect({ hostname, port })),
    );
  }

  #connections() {
    return {
      keepAlive: true,
      maxSockets: this.config.maxConnectionsPerHost,
      maxTotalSockets: this.config.maxConnections,
      maxFreeSockets: 2,
      timeout: this.config.idleTimeoutMs,
    };
  }

  async send(request: OutgoingRequest, signal: AbortSignal): Promise<OutgoingResponse> {
    const url = parseAddress(request.url);
    if (url.protocol === "https:" && this.#hasNoAnchors) {
      throw new RemoteUnavailable(url.host, "no trust anchors are configured");
    }
    const limit = AbortSignal.timeout(this.config.timeoutMs);
    const either = AbortSignal.any([signal, limit]);
    let stream: TlsStream | undefined;
    try {
      return await this.#exchange(url, request, either, (used) => stream = used);
    } catch (error) {
      if (error instanceof RemoteUnavailable) throw error;
      const reason = signal.aborted
        ? "given up by the caller"
        : limit.aborted
        ? `no complete answer within ${this.config.timeoutMs} ms`
        : stream !== undefined && !stream.opened && error instanceof Error
        ? `no connection: ${error.message}`
        : "no answer";
      // A timeout in the queue says nothing about connections.
      throw new RemoteUnavailable(url.host, reason, { cause: error, connected: stream?.opened ?? true });
    }
  }

  /** Closes idle connections, others after their requests. */
  close(): void {
    this.#agent.destroy();
    this.#plainAgent?.destroy();
  }

  /** Sends a request; `node:https` replaces a kept connection that turns out closed. @param using Called with the connection, which may not be open yet. */
  #exchange(
    url: URL,
    request: OutgoingRequest,
    signal: AbortSignal,
    using: (stream: TlsStream) => void,
  ): Promise<OutgoingResponse> {
    return new Promise((resolve, reject) => {
      signal.throwIfAborted();
      const secure = url.protocol === "https:";
      const agent = secure ? this.#agent : this.#plainAgent ??= this.#createPlainAgent();
      const call = (secure ? startRequest : startPlainRequest)(url, {
        method: request.method,
        agent,
        headers: {
          // Some servers compress by default.
          "Accept-Encoding": "identity",
          ...request.headers,
          ...(request.body === undefined ? {} : { "Content-Length": Buffer.byteLength(request.body) }),
        },
      });
      let done = false;
      const end = () => {
        done = true;
        signal.removeEventListener("abort", stop);
      };
      const fail = (error: unknown) => {
        end();
        reject(error);
        call.destroy();
      };
      const stop = () => fail(signal.reason);
      signal.addEventListener("abort", stop, { once: true });

      call.on("socket", (socket) => {
        // Deno 2.9.6 opens another connection for a call destroyed while waiting on a kept one.
        if (done) socket.destroy();
        if (socket instanceof TlsStream) {
          socket.allow(MAX_RECEIVED_BYTES);
          using(socket);
        }
      });
      let answered = false;
      call.on("response", (response) => {
        answered = true;
        const answer = (body: string) =>
          resolve({ status: response.statusCode ?? 0, headers: plainHeaders(response), body });
        if (request.statusAlone) answer("");
        // Also reads ignored bodies, within the same limits, so that the connection can be kept.
        readBody(response).finally(end).then(answer, fail);
      });
      call.on("error", fail);
      call.on("close", () => {
        if (!answered) fail(new Error("the connection was closed"));
      });
      call.end(request.body);
    });
  }
}

function parseAddress(text: string): URL {
  const url = URL.parse(text);
  if (url === null) throw new RemoteUnavailable("(unreadable address)", "the configured address is no URL");
  if (url.protocol !== "https:" && url.protocol !== "http:") {
    throw new RemoteUnavailable(url.host, "only https and http addresses are called");
  }
  return url;
}

function readBody(response: IncomingMessage): Promise<string> {
  return new Promise((resolve, reject) => {
    const coding = (response.headers["content-encoding"] ?? "identity").trim().toLowerCase();
    const isPacked = coding === "gzip" || coding === "x-gzip";
    if (!isPacked && coding !== "identity") {
      return reject(
        new Error(`the answer is in the coding ${printable(coding.slice(0, 40))}, which was not asked for`),
      );
    }
    const chunks: Uint8Array[] = [];
    let length = 0;
    response.on("data", (chunk: Buffer) => {
      length += chunk.length;
      if (length > MAX_BODY_BYTES) reject(new Error(`the answer is longer than ${MAX_BODY_BYTES} bytes`));
      else chunks.push(chunk);
    });
    response.on("error", reject);
    response.on("aborted", () => reject(new Error("the answer broke off")));
    response.on("close", () => reject(new Error("the answer broke off")));
    response.on("end", () => {
      try {
        const sent = Buffer.concat(chunks);
        resolve(decode(isPacked && sent.length > 0 ? unpack(sent) : sent));
      } catch (error) {
        reject(error);
      }
    });
  });
}

/** Decompresses within the same limit, against decompression bombs. */
function unpack(bytes: Uint8Array): Uint8Array {
  return attempt(() => gunzipSync(bytes, { maxOutputLength: MAX_BODY_BYTES }), Error, (cause) => {
    throw new Error(`the answer is no gzip, or unpacked longer than ${MAX_BODY_BYTES} bytes`, { cause });
  });
}

function decode(bytes: Uint8Array): string {
  return attempt(() => new TextDecoder("utf-8", { fatal: true }).decode(bytes), TypeError, (cause) => {
    throw new Error("the answer is not UTF-8", { cause });
  });
}

function plainHeaders({ headers }: IncomingMessage): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, [value].flat().join(", ")]),
  );
}

/** Makes an agent open its connections with `open`, and returns it. */
function connecting<A extends HttpAgent>(
  agent: A,
  limitMs: number,
  open: (target: TlsTarget, signal: AbortSignal) => Promise<TlsConnection>,
): A {
  agent.createConnection = (
    { host, port }: { host?: string | null; port?: string | number | null },
  ): Duplex => {
    const target = { host: (host ?? "").replace(/^\[|\]$/g, ""), port: Number(port) };
    return new TlsStream((signal) => open(target, signal), limitMs);
  };
  return agent;
}
