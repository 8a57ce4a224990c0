import { once } from "node:events";
import { isIP } from "node:net";
import type { Duplex } from "node:stream";
import { checkServerIdentity, connect, TLSSocket } from "node:tls";
import type { Clock } from "../../model/clock.ts";
import { findPath } from "../../model/trust/certificate_path.ts";
import { provesKey } from "../../model/trust/proof_of_key.ts";
import { wholeChain } from "../../model/trust/shown_chain.ts";
import { unlessAborted } from "../../model/unless_aborted.ts";
import { DatabaseFailure } from "../database.ts";
import type { PostgresServer, Reach } from "./postgres_servers.ts";
import { reachPlain } from "./reach_plain.ts";

/** Whom to believe to be the database, and as whom to appear there. */
export interface PostgresTrust {
  /** PEM, one certificate each; nobody else is trusted. */
  readonly anchors: readonly string[];
  /** Certificate, with its chain, and key for the database user, as PEM. */
  readonly clientCertificate?: { readonly certificate: string; readonly key: string };
}

/** Length and code of the message by which a connection asks for TLS (PostgreSQL's protocol, "SSLRequest"). */
const ASK_FOR_TLS = Uint8Array.of(0, 0, 0, 8, 4, 210, 22, 47);

/** What a server answers that has it. */
const HAS_TLS = "S".charCodeAt(0);

/**
 * Connects with TLS: whom the server's certificate is from and for, and that the handshake proved its key, we look at
 * ourselves (architecture, design note 8).
 * @param trust Asked for each connection, so that renewed certificates are used from the next one on.
 */
export function reachByTls(trust: () => Promise<PostgresTrust>, clock: Clock): Reach {
  return async (server, signal) => {
    const { anchors, clientCertificate } = await trust();
    const plain = await reachPlain(server, signal);
    const abort = () => plain.destroy();
    signal.addEventListener("abort", abort, { once: true });
    try {
      await unlessAborted(agree(plain, server), signal);
      const socket = connect({
        socket: plain,
        servername: isIP(server.host) === 0 ? server.host : undefined,
        ca: [...anchors],
        cert: clientCertificate?.certificate,
        key: clientCertificate?.key,
        rejectUnauthorized: false, // looked at below
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
        : new DatabaseFailure(`TLS with ${server.host}: ${error instanceof Error ? error.message : error}`, {
          cause: error,
        });
    } finally {
      signal.removeEventListener("abort", abort);
    }
  };
}

/** @throws {DatabaseFailure} If the server has no TLS. What the socket emits. */
async function agree(socket: Duplex, { host }: PostgresServer): Promise<void> {
  socket.write(ASK_FOR_TLS);
  const [answer] = await once(socket, "data");
  socket.pause();
  // More than this one byte would be from somebody in between, before the handshake.
  if (answer instanceof Uint8Array && answer.length === 1 && answer[0] === HAS_TLS) return;
  throw new DatabaseFailure(`${host} has no TLS, expected ssl=on there or persistence.pgsql.useSSL=false`);
}

/** @throws {DatabaseFailure} If the server is not who it should be. */
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
      `the certificate of ${host} is not X.509 version 3, or not by the book: it proves nothing`,
    );
  }
}
