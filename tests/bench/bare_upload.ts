/**
 * The yardstick for uploads: pipes request bodies into a daemon's data connection. Arguments: those of
 * `bare_transfer.ts`, and the path.
 */
import { once } from "node:events";
import { serveTransfers } from "./bare_transfer.ts";

const path = Deno.args[4] ?? "";

const server = serveTransfers(Deno.args, async (session, request, response) => {
  const data = await session.openData();
  await session.commands(`ALLO ${request.headers["content-length"]}`, `STOR ${path}`);
  request.pipe(data);
  await once(data, "close");
  response.writeHead(201).end();
  session.close();
});
// `curl -T` sends `Expect: 100-continue` and would wait.
server.on("checkContinue", (request, response) => {
  response.writeContinue();
  server.emit("request", request, response);
});
