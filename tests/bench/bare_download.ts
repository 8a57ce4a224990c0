/**
 * The yardstick for downloads: pipes a file from a daemon's data connection. Arguments: those of `bare_transfer.ts`, the path
 * and the size.
 */
import { serveTransfers } from "./bare_transfer.ts";

const [, , , , path = "", size = ""] = Deno.args;

serveTransfers(Deno.args, async (session, _request, response) => {
  const data = await session.openData();
  await session.commands(`RANG 0 ${size}`, `RETR ${path}`);
  response.writeHead(200, { "Content-Length": size });
  data.pipe(response);
  response.once("close", () => session.close());
});
