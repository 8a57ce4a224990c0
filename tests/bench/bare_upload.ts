/**
 * The yardstick for uploads: a `node:https` server that pipes what it is sent into a daemon's data connection, and does
 * nothing else. Arguments: folder with `auth-cert.pem`, `auth-key.pem` and `ca.pem`, command port, listen port, path.
 */
import { once } from "node:events";
import { createServer } from "node:https";
import { exchange } from "../daemon_simulator/command_client.ts";
import { SessionClient } from "../daemon_simulator/session_client.ts";

const [folder = "", commandPort = "", listenPort = "", path = ""] = Deno.args;
const [certificate, key, trusted] = ["auth-cert", "auth-key", "ca"].map((name) =>
  Deno.readTextFileSync(`${folder}/${name}.pem`)
);
if (certificate === undefined || key === undefined) throw new TypeError("no credential");
const target = { port: Number(commandPort), credential: { certificate, key }, trusted };

const server = createServer({ cert: certificate, key }, async (request, response) => {
  const secret = crypto.randomUUID();
  await exchange(
    target,
    `request-type=uftp-transfer-request\nclient-ip=127.0.0.1\nuser=alice\nsecret=${secret}\nfile=/\nEND\n`,
  );
  const control = await SessionClient.connect(Number(listenPort));
  await control.logIn(secret);
  const data = await control.openData();
  await control.commands(`ALLO ${request.headers["content-length"]}`, `STOR ${path}`);
  request.pipe(data);
  await once(data, "close");
  response.writeHead(201).end();
  control.close();
});
// `curl -T` asks whether it may send, and would wait.
server.on("checkContinue", (request, response) => {
  response.writeContinue();
  server.emit("request", request, response);
});
server.listen(0, "127.0.0.1", () => {
  const address = server.address();
  console.log(`listening on ${typeof address === "object" ? address?.port : ""}`);
});
