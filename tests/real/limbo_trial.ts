/** Trial of the certificates of an x509-limbo case by the service, over real connections on the loopback. */
import { Buffer } from "node:buffer";
import { createPrivateKey, type KeyObject } from "node:crypto";
import { connect, createServer, type Server } from "node:tls";
import { LIMITS } from "../../src/edge/edge_options.ts";
import { HttpsEdge } from "../../src/edge/https_edge.ts";
import { HeaderList, type Peer } from "../../src/model/http_message.ts";
import { SILENT } from "../../src/logging/logger.ts";
import { openTls } from "../../src/outgoing/open_tls.ts";
import { startLyingServer } from "../attack/lying_tls_server.ts";
import { partsWith } from "../edge/edge_parts.ts";
import { inTime } from "../fixtures/deadline.ts";
import { createAuthority } from "../pki/authority.ts";
import type { LimboCase } from "./limbo_cases.ts";

/** Returns why a case cannot be tried over a connection, or `undefined`. */
export function untriable({ key, time, features, maxDepth }: LimboCase): string | undefined {
  if (key === undefined) return "nobody can show a certificate without its key";
  if (time !== undefined) return "it is judged at another moment than now";
  if (features.includes("has-crl")) return "revocation lists are files of the operator's here";
  return maxDepth === undefined ? undefined : "how long a chain may be is not configured here";
}

/** Error for a private key of a kind that no server here can use. */
export class KeyOfNoUse extends Error {}

/** Reports whether our outgoing client or edge accepts the peer's certificate. @throws {KeyOfNoUse} */
export async function isBelieved(limbo: LimboCase): Promise<boolean> {
  return limbo.kind === "SERVER" ? await serverIsBelieved(limbo) : await clientIsKnown(limbo);
}

async function serverIsBelieved(limbo: LimboCase): Promise<boolean> {
  await using server = await startServer(limbo);
  const host = limbo.peerName ?? "localhost";
  const hostnameChecking = limbo.peerName === undefined ? "NONE" : "FAIL";
  const rules = {
    hostnameChecking,
    trust: { anchors: limbo.trusted },
    log: SILENT,
    connectTimeoutMs: 10_000,
    signal: AbortSignal.timeout(20_000),
  } as const;
  try {
    const connection = await inTime(
      toLoopback(server.port, () => openTls({ host, port: server.port }, rules)),
      "the judgement",
    );
    connection.close();
    return true;
  } catch {
    return false;
  }
}

/** Connects to the loopback for any host name while `open` runs. Deno still verifies certificate and name. */
async function toLoopback<Result>(port: number, open: () => Promise<Result>): Promise<Result> {
  const { connectTls } = Deno;
  Deno.connectTls = async (
    { hostname = "localhost", caCerts = [], unsafelyDisableHostnameVerification = false },
  ) => {
    const plain = await Deno.connect({ hostname: "127.0.0.1", port });
    return await Deno.startTls(plain, { hostname, caCerts, unsafelyDisableHostnameVerification });
  };
  try {
    return await open();
  } finally {
    Deno.connectTls = connectTls;
  }
}

/** Starts a server with the case's certificate and key. No TLS library would send all these certificates. */
async function startServer(
  { leaf, key = "", intermediates }: LimboCase,
): Promise<{ readonly port: number } & AsyncDisposable> {
  const chain = [leaf, ...intermediates];
  const own = usable(() => createPrivateKey(key));
  if (isP256(own)) return await startLyingServer({ chain: chain.map(der), key: own, version: "TLSv1.3" });
  const server = usable(() =>
    createServer({ cert: chain.join("\n"), key }, (socket) => socket.on("error", () => {}))
  );
  server.on("tlsClientError", () => {});
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    port: portOf(server),
    [Symbol.asyncDispose]: () => new Promise((resolve) => server.close(() => resolve())),
  };
}

function usable<Made>(make: () => Made): Made {
  try {
    return make();
  } catch (cause) {
    throw new KeyOfNoUse("the key cannot be used", { cause });
  }
}

function isP256({ asymmetricKeyType, asymmetricKeyDetails }: KeyObject): boolean {
  return asymmetricKeyType === "ec" && /^(?:prime256v1|P-256)$/i.test(asymmetricKeyDetails?.namedCurve ?? "");
}

/** Returns the raw bytes of a certificate: a parser would refuse some of them. */
function der(pem: string): Uint8Array {
  return Buffer.from(pem.replace(/-----[^-]+-----|\s/g, ""), "base64");
}

function portOf(server: Server): number {
  const address = server.address();
  if (address === null || typeof address === "string") throw new TypeError("not listening");
  return address.port;
}

const ours = createAuthority({ subject: "CN=Test CA" }).issue({
  subject: "CN=localhost",
  names: ["localhost"],
});

async function clientIsKnown({ leaf, key = "", intermediates, trusted }: LimboCase): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<Peer>();
  const edge = await HttpsEdge.start(
    {
      address: "127.0.0.1",
      port: 0,
      maxConnections: 0,
      limits: LIMITS,
      tls: {
        ...ours,
        anchors: trusted,
        clientCertificate: "requested",
        minVersion: "TLSv1.2",
        maxVersion: "TLSv1.3",
      },
    },
    partsWith(({ client }) => {
      resolve(client);
      return Promise.resolve({ status: 200, headers: new HeaderList(["Content-Length", "0"]), body: "" });
    }),
  );
  const cert = [leaf, ...intermediates].join("\n");
  const socket = connect({ host: "127.0.0.1", port: edge.port, rejectUnauthorized: false, cert, key });
  socket.on("error", () => {}); // the edge may close the connection because of the certificate
  try {
    socket.write("GET / HTTP/1.1\r\nHost: h\r\n\r\n");
    const cut = new Promise<undefined>((resolve) => socket.once("close", () => resolve(undefined)));
    return (await inTime(Promise.race([promise, cut]), "the judgement"))?.certificate !== undefined;
  } finally {
    socket.destroy();
    await edge.drain(0);
  }
}
