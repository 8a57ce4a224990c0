import { Buffer } from "node:buffer";
import { Agent, request as startRequest } from "node:https";
import type { IncomingMessage } from "node:http";
import { rootCertificates } from "node:tls";
import type { Logger } from "../logging/logger.ts";
import type { OutgoingHttp, OutgoingRequest, OutgoingResponse } from "./outgoing_http.ts";
import { RemoteUnavailable } from "./remote_unavailable.ts";
import { certificateCheck, type HostnameChecking } from "./server_certificate.ts";

/** Whom to trust and how long to wait on connections to other systems. */
export interface HttpsClientOptions {
  /** Trust anchors as PEM, one certificate each; they replace the public roots. */
  readonly anchors: readonly string[];
  /** Also trust the public roots, say for an identity provider with a certificate of a public CA. */
  readonly publicRoots: boolean;
  readonly hostnameChecking: HostnameChecking;
  /** Own certificate chain and key as PEM, to be shown to servers that ask. */
  readonly clientCertificate?: { readonly certificate: string; readonly key: string };
  /** From the socket's creation to the end of the TLS handshake; default 10,000. */
  readonly connectMs?: number;
  /** From the call to the last byte of the answer; default 20,000. */
  readonly totalMs?: number;
  /** Default 1 MiB. */
  readonly maxBodyBytes?: number;
  /** Connections per host; default 8. Further requests wait their turn, within `totalMs`. */
  readonly maxConnections?: number;
}

/** {@link OutgoingHttp} over `node:https`: no redirects, no compression, no proxies. */
export class HttpsClient implements OutgoingHttp {
  readonly #agent: Agent;
  readonly #trustsNobody: boolean;
  readonly #connectMs: number;
  readonly #totalMs: number;
  readonly #maxBodyBytes: number;

  constructor(options: HttpsClientOptions, log: Logger) {
    if (options.hostnameChecking === "NONE") {
      log.warn(
        "HOST NAMES OF OUTGOING CONNECTIONS ARE NOT CHECKED: any trusted certificate may pose as any host",
      );
    }
    this.#connectMs = options.connectMs ?? 10_000;
    this.#totalMs = options.totalMs ?? 20_000;
    this.#maxBodyBytes = options.maxBodyBytes ?? 1024 * 1024;
    const ca = [...options.anchors, ...(options.publicRoots ? rootCertificates : [])];
    this.#trustsNobody = ca.length === 0;
    this.#agent = new Agent({
      keepAlive: true,
      maxSockets: options.maxConnections ?? 8,
      maxFreeSockets: 2,
      ca,
      cert: options.clientCertificate?.certificate,
      key: options.clientCertificate?.key,
      checkServerIdentity: certificateCheck(options.hostnameChecking, log),
    });
  }

  async send(request: OutgoingRequest, signal: AbortSignal): Promise<OutgoingResponse> {
    const url = parseAddress(request.url);
    if (this.#trustsNobody) throw new RemoteUnavailable(url.host, "no trust anchors are configured");
    const limit = AbortSignal.timeout(this.#totalMs);
    const either = AbortSignal.any([signal, limit]);
    try {
      try {
        return await this.#attempt(url, request, either);
      } catch (error) {
        // A kept connection may have been closed by the server just now; a fresh one tells.
        if (!(error instanceof StaleConnection) || either.aborted) throw error;
        return await this.#attempt(url, request, either);
      }
    } catch (error) {
      if (error instanceof RemoteUnavailable) throw error;
      const reason = signal.aborted
        ? "given up by the caller"
        : limit.aborted
        ? `no complete answer within ${this.#totalMs} ms`
        : "no answer";
      throw new RemoteUnavailable(url.host, reason, { cause: error });
    }
  }

  /** Closes idle connections; requests under way end with theirs. */
  close(): void {
    this.#agent.destroy();
  }

  #attempt(url: URL, request: OutgoingRequest, signal: AbortSignal): Promise<OutgoingResponse> {
    return new Promise((resolve, reject) => {
      signal.throwIfAborted();
      const call = startRequest(url, {
        method: request.method,
        agent: this.#agent,
        headers: {
          ...request.headers,
          ...(request.body === undefined ? {} : { "Content-Length": Buffer.byteLength(request.body) }),
        },
      });
      const fail = (error: Error) => call.destroy(error);
      const stop = () => fail(signal.reason instanceof Error ? signal.reason : new Error("aborted"));
      signal.addEventListener("abort", stop, { once: true });

      let reused = false;
      let answered = false;
      let handshake: ReturnType<typeof setTimeout> | undefined;
      call.on("socket", (socket) => {
        reused = call.reusedSocket;
        if (reused) return;
        const late = new Error(`no TLS connection within ${this.#connectMs} ms`);
        handshake = setTimeout(() => fail(late), this.#connectMs);
        socket.once("secureConnect", () => clearTimeout(handshake));
      });
      call.on("response", (response) => {
        answered = true;
        readBody(response, this.#maxBodyBytes).then(
          (body) => resolve({ status: response.statusCode ?? 0, headers: plainHeaders(response), body }),
          (error) => {
            reject(error);
            call.destroy();
          },
        );
      });
      call.on(
        "error",
        (error) => reject(reused && !answered && !signal.aborted ? new StaleConnection(error) : error),
      );
      call.on("close", () => {
        clearTimeout(handshake);
        signal.removeEventListener("abort", stop);
        if (!answered) reject(new Error("the connection was closed"));
      });
      call.end(request.body);
    });
  }
}

/** A kept connection failed before the answer began. */
class StaleConnection extends Error {
  constructor(cause: unknown) {
    super("the kept connection is gone", { cause });
  }
}

function parseAddress(text: string): URL {
  const url = URL.parse(text);
  if (url === null) throw new RemoteUnavailable("(unreadable address)", "the configured address is no URL");
  if (url.protocol !== "https:") throw new RemoteUnavailable(url.host, "only https addresses are called");
  return url;
}

function readBody(response: IncomingMessage, maxBytes: number): Promise<string> {
  return new Promise((resolve, reject) => {
    const coding = response.headers["content-encoding"] ?? "identity";
    if (coding !== "identity") return reject(new Error("the answer is compressed, which was not asked for"));
    const chunks: Uint8Array[] = [];
    let length = 0;
    response.on("data", (chunk: Buffer) => {
      length += chunk.length;
      if (length > maxBytes) reject(new Error(`the answer is longer than ${maxBytes} bytes`));
      else chunks.push(chunk);
    });
    response.on("error", reject);
    response.on("aborted", () => reject(new Error("the answer broke off")));
    response.on("close", () => reject(new Error("the answer broke off")));
    response.on("end", () => {
      if (!response.complete) return reject(new Error("the answer broke off"));
      try {
        resolve(new TextDecoder("utf-8", { fatal: true }).decode(Buffer.concat(chunks)));
      } catch (error) {
        reject(new Error("the answer is not UTF-8", { cause: error }));
      }
    });
  });
}

function plainHeaders(response: IncomingMessage): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(response.headers)) {
    if (value !== undefined) headers[name] = Array.isArray(value) ? value.join(", ") : value;
  }
  return headers;
}
