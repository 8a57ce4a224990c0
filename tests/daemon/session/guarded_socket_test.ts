import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type Socket } from "node:net";
import { GuardedSocket } from "../../../src/daemon/session/guarded_socket.ts";

Deno.test("GuardedSocket is closed after its peer resets the connection, so that it is not used again", async () => {
  const server = createServer((peer: Socket) => peer.once("data", () => peer.resetAndDestroy()))
    .listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  assert.ok(typeof address === "object" && address !== null);
  using socket = await GuardedSocket.connect("127.0.0.1", address.port, 5000, new AbortController().signal);
  await socket.write(new Uint8Array(1), 5000);
  for (let i = 0; i < 2; i++) {
    await assert.rejects(socket.read(new Uint8Array(1), 5000), {
      code: "ERR_DAEMON_SESSION",
      message: "Connection to the daemon lost",
    });
    assert.equal(socket.closed, true);
  }
  server.close();
  await once(server, "close");
});
