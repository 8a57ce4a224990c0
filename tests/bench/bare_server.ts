/**
 * The yardstick: a `node:https` server that answers everything with the same bytes, and does nothing else.
 * Arguments: files of the certificate, the key, and `{headers, body}` as JSON. Prints `listening on <port>`.
 */
import { createServer } from "node:https";

const [certificate = "", key = "", answer = ""] = Deno.args;
const { headers, body } = JSON.parse(Deno.readTextFileSync(answer));
const server = createServer(
  { cert: Deno.readTextFileSync(certificate), key: Deno.readTextFileSync(key) },
  (_request, response) => {
    response.writeHead(200, headers);
    response.end(body);
  },
);
server.listen(0, "127.0.0.1", () => {
  const address = server.address();
  console.log(`listening on ${typeof address === "object" ? address?.port : ""}`);
});
