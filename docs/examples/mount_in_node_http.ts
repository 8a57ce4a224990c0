/** The Auth service below the path `/uftp` of a host that is made of `node:https` (or `node:http` behind a proxy). */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { mountService } from "../../src/service/mount.ts"; // in your project: "authserver/service"

export async function serveWithNode(configuration: string, port: number) {
  const auth = await mountService({ configuration, path: "/uftp" });
  const server = createServer(async (incoming, outgoing) => {
    if (!incoming.url?.startsWith("/uftp")) return outgoing.writeHead(404).end("The host's own pages\n");
    const peer = { address: incoming.socket.remoteAddress ?? "" };
    await send(await auth.handle(requestOf(incoming), peer), outgoing);
  });
  await new Promise<void>((listening) => server.listen(port, "127.0.0.1", listening));
  const address = server.address();
  return {
    port: typeof address === "object" && address !== null ? address.port : 0,
    async close() {
      await new Promise((closed) => server.close(closed));
      await auth.close();
    },
  };
}

function requestOf(incoming: IncomingMessage): Request {
  const { method = "GET", url = "/", headers } = incoming;
  const list = Object.entries(headers).flatMap(([name, value]): [string, string][] =>
    value === undefined ? [] : [[name, String(value)]]
  );
  const body = method === "GET" || method === "HEAD" ? undefined : ReadableStream.from<Uint8Array>(incoming);
  return new Request(`http://${headers.host ?? "localhost"}${url}`, { method, headers: list, body });
}

async function send(response: Response, outgoing: ServerResponse): Promise<void> {
  outgoing.writeHead(response.status, [...response.headers].flat());
  if (response.body === null) outgoing.end();
  else await pipeline(Readable.fromWeb(response.body), outgoing);
}
