import { Buffer } from "node:buffer";
import { once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer } from "node:https";
import type { Socket } from "node:net";
import type { TLSSocket } from "node:tls";
import { inTime } from "../fixtures/deadline.ts";
import type { Credential } from "../pki/authority.ts";

/** Request that the test server received. */
export interface SeenRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
  /** Whether the client presented a valid certificate. */
  readonly withCertificate: boolean;
}

/** Handler of a request; a response that it does not end stays open until the server closes. */
export type Answer = (request: SeenRequest, response: ServerResponse) => unknown;

export interface HttpsServer extends AsyncDisposable {
  readonly port: number;
  /** `https://localhost:<port>`, without trailing slash. */
  readonly origin: string;
  readonly seen: readonly SeenRequest[];
  /** TCP connections accepted so far. */
  readonly connections: number;
  /** Destroys all open connections. */
  cut(): void;
  /** Resolves once no connection is open; fails if that does not happen. */
  idle(): Promise<void>;
}

/** Starts an HTTPS server on loopback that presents `credential` and passes each request to `answer`. */
export async function startHttpsServer(
  credential: Credential,
  answer: Answer,
  clientAuthority?: string,
): Promise<HttpsServer> {
  const seen: SeenRequest[] = [];
  const sockets = new Set<Socket>();
  let connections = 0;
  const server = createServer(
    {
      cert: credential.certificate,
      key: credential.key,
      ...(clientAuthority === undefined
        ? {}
        : { ca: clientAuthority, requestCert: true, rejectUnauthorized: false }),
    },
    async (request: IncomingMessage, response: ServerResponse) => {
      const chunks: Buffer[] = [];
      try {
        for await (const chunk of request) chunks.push(Buffer.from(chunk));
      } catch {
        return; // the client closed the connection before its request was complete
      }
      const seenRequest: SeenRequest = {
        method: request.method ?? "",
        path: request.url ?? "",
        headers: { ...request.headers },
        body: Buffer.concat(chunks).toString("utf8"),
        withCertificate: clientAuthority !== undefined && isAuthorized(request.socket),
      };
      seen.push(seenRequest);
      answer(seenRequest, response);
    },
  );
  server.on("connection", (socket: Socket) => {
    connections++;
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
    socket.on("error", () => {});
  });
  server.on("tlsClientError", () => {});
  server.listen(0, "localhost");
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new TypeError("not listening");
  const cut = () => sockets.forEach((socket) => socket.destroy());
  return {
    port: address.port,
    origin: `https://localhost:${address.port}`,
    seen,
    get connections() {
      return connections;
    },
    cut,
    async idle() {
      while (sockets.size > 0) {
        const closed = Promise.all([...sockets].map((socket) => once(socket, "close")));
        await inTime(closed, "the end of the connections");
      }
    },
    async [Symbol.asyncDispose]() {
      cut();
      const closed = once(server, "close");
      server.close();
      await closed;
    },
  };
}

function isAuthorized(socket: Socket | TLSSocket): boolean {
  return "authorized" in socket && socket.authorized === true;
}
