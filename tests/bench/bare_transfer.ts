import { createServer, type Server } from "node:https";
import type { IncomingMessage, ServerResponse } from "node:http";
import { exchange } from "../daemon_simulator/command_client.ts";
import { SessionClient } from "../daemon_simulator/session_client.ts";

type Session = Awaited<ReturnType<typeof SessionClient.connect>>;

/**
 * Starts the yardstick for transfers: a `node:https` server that opens a session with a daemon for each
 * request, and does nothing else. Prints its port.
 * @param args Folder with `auth-cert.pem`, `auth-key.pem` and `ca.pem`, command port, listen port, account;
 * `answer` may use more.
 * @param answer Answers the request and ends the session.
 */
export function serveTransfers(
  [folder = "", commandPort = "", listenPort = "", user = ""]: readonly string[],
  answer: (session: Session, request: IncomingMessage, response: ServerResponse) => Promise<void>,
): Server {
  const [certificate, key, trusted] = ["auth-cert", "auth-key", "ca"].map((name) =>
    Deno.readTextFileSync(`${folder}/${name}.pem`)
  );
  if (certificate === undefined || key === undefined) throw new TypeError("no credential");
  const target = { port: Number(commandPort), credential: { certificate, key }, trusted };
  const server = createServer({ cert: certificate, key }, async (request, response) => {
    const secret = crypto.randomUUID();
    await exchange(
      target,
      `request-type=uftp-transfer-request\nclient-ip=127.0.0.1\nuser=${user}\nsecret=${secret}\nfile=/\nEND\n`,
    );
    const session = await SessionClient.connect(Number(listenPort));
    await session.logIn(secret);
    await answer(session, request, response);
  });
  server.listen(0, "127.0.0.1", () => {
    const address = server.address();
    console.log(`listening on ${typeof address === "object" ? address?.port : ""}`);
  });
  return server;
}
