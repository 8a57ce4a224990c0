import { once } from "node:events";
import { isIP } from "node:net";
import type { Duplex } from "node:stream";
import { checkServerIdentity, connect, TLSSocket } from "node:tls";
import { type Clock, unlessAborted } from "../../model/clock.ts";
import { findPath } from "../../model/trust/certificate_path.ts";
import { provesKey } from "../../model/trust/proof_of_key.ts";
import { wholeChain } from "../../model/trust/peer_chain.ts";
import { messageOf } from "../../model/text.ts";
import { DatabaseFailure } from "../database.ts";
import type { Connect, PostgresServer } from "./postgres_servers.ts";
import { connectPlain } from "./connect_plain.ts";

export interface PostgresTrust {
  readonly anchors: readonly string[]; // PEM; replaces the system's anchors
  readonly clientCertificate?: { readonly certificate: string; readonly key: string }; // PEM, with chain
}

const SSL_REQUEST = Uint8Array.of(0, 0, 0, 8, 4, 210, 22, 47);

const SSL_ACCEPTED = "S".charCodeAt(0);

/** Connects with TLS and verifies certificate, host name and proof of key itself. @param trust Called per connection. */
export function connectWithTls(trust: () => Promise<PostgresTrust>, clock: Clock): Connect {
  return async (server, signal) => {
    const { anchors, clientCertificate } = await trust();
    const plain = await connectPlain(server, signal);
    const abort = () => plain.destroy();
    signal.addEventListener("abort", abort, { once: true });
    try {
      await unlessAborted(requestTls(plain, server), signal);
      const socket = connect({
        socket: plain,
        servername: isIP(server.host) === 0 ? server.host : undefined,
        ca: [...anchors],
        cert: clientCertificate?.certificate,
        key: clientCertificate?.key,
        rejectUnauthorized: false, // verified below
        checkServerIdentity: () => undefined,
      });
      socket.on("error", () => {});
      await unlessAborted(once(socket, "secureConnect"), signal);
      checkServer(socket, server, anchors, clock());
      return socket;
    } catch (error) {
      plain.destroy();
      throw signal.aborted || error instanceof DatabaseFailure
        ? error
        : new DatabaseFailure(`TLS with ${server.host}: ${messageOf(error)}`, { cause: error });
    } finally {
      signal.removeEventListener("abort", abort);
    }
  };
}

/** @throws {DatabaseFailure} If the server has no TLS; the socket's errors. */
async function requestTls(socket: Duplex, { host }: PostgresServer): Promise<void> {
  socket.write(SSL_REQUEST);
  const [answer] = await once(socket, "data");
  socket.pause();
  // Further bytes before the handshake would come from an attacker.
  if (answer instanceof Uint8Array && answer.length === 1 && answer[0] === SSL_ACCEPTED) return;
  throw new DatabaseFailure(`${host} has no TLS, expected ssl=on there or persistence.pgsql.useSSL=false`);
}

/** @throws {DatabaseFailure} If the certificate is not trusted. */
function checkServer(
  socket: TLSSocket,
  { host }: PostgresServer,
  anchors: readonly string[],
  at: number,
): void {
  const shown = wholeChain(socket);
  const [leaf] = shown;
  const way = findPath(shown, { anchors, purpose: "serverAuth", at });
  if (leaf === undefined || typeof way === "string") {
    throw new DatabaseFailure(
      `the certificate of ${host}: ${typeof way === "string" ? way : "there is none"}`,
    );
  }
  const mismatch = checkServerIdentity(host, TLSSocket.prototype.getPeerCertificate.call(socket));
  if (mismatch !== undefined) throw new DatabaseFailure(`the certificate of ${host}: ${mismatch.message}`);
  if (!provesKey(leaf)) {
    throw new DatabaseFailure(
      `the certificate of ${host} is not X.509 version 3, or not valid DER: it proves nothing`,
    );
  }
}
