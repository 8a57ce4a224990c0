/**
 * The yardstick for downloads: a `node:https` server that pipes a file from a daemon's data connection, and does nothing
 * else. Arguments: folder with `auth-cert.pem`, `auth-key.pem` and `ca.pem`, command port, listen port, path, size.
 */
import { createServer } from "node:https";
import { exchange } from "../daemon_simulator/command_client.ts";
import { SessionClient } from "../daemon_simulator/session_client.ts";

const [folder = "", commandPort = "", listenPort = "", path = "", size = ""] = Deno.args;
const [certificate, key, trusted] = ["auth-cert", "auth-key", "ca"].map((name) =>
  Deno.readTextFileSync(`${folder}/${name}.pem`)
);
if (certificate === undefined || key === undefined) throw new TypeError("no credential");
const target = { port: Number(commandPort), credential: { certificate, key }, trusted };

const server = createServer({ cert: certificate, key }, async (_request, response) => {
  const secret = crypto.randomUUID();
  await exchange(
    target,
    `request-type=uftp-transfer-request\nclient-ip=127.0.0.1\nuser=alice\nsecret=${secret}\nfile=/\nEND\n`,
  );
  const control = await SessionClient.connect(Number(listenPort));
  await control.logIn(secret);
  const data = await control.openData();
  await control.commands(`RANG 0 ${size}`, `RETR ${path}`);
  response.writeHead(200, { "Content-Length": size });
  data.pipe(response);
  response.once("close", () => control.close());
});
server.listen(0, "127.0.0.1", () => {
  const address = server.address();
  console.log(`listening on ${typeof address === "object" ? address?.port : ""}`);
});
