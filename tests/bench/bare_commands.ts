/**
 * The yardstick for sessions: a bare loop of TLS command connections. Arguments: port of the command socket, folder with
 * `auth-cert.pem`, `auth-key.pem` and `ca.pem`, connections at a time, seconds. Says how many replies came in a second.
 * It does for a connection what every client must: checks the certificate as the platform does, and shows its own.
 */
import { connect, createSecureContext } from "node:tls";

const [port = "", folder = "", atOnce = "", seconds = ""] = Deno.args;
const tls = {
  host: "127.0.0.1",
  port: Number(port),
  secureContext: createSecureContext({
    cert: Deno.readTextFileSync(`${folder}/auth-cert.pem`),
    key: Deno.readTextFileSync(`${folder}/auth-key.pem`),
    ca: Deno.readTextFileSync(`${folder}/ca.pem`),
  }),
  checkServerIdentity: () => undefined,
};

function openSession(): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(tls, () =>
      socket.write(
        `request-type=uftp-transfer-request\nclient-ip=127.0.0.1\nuser=alice\nsecret=${crypto.randomUUID()}\nfile=\nEND\n`,
      ));
    let reply = "";
    socket.on("data", (bytes) => reply += bytes);
    socket.on("error", () => resolve(false));
    socket.on("close", () => resolve(/^OK::\d+\n$/.test(reply)));
  });
}

/** Replies a second. */
async function measure(seconds: number): Promise<number> {
  let replies = 0;
  const began = performance.now();
  const until = began + seconds * 1000;
  await Promise.all(
    Array.from({ length: Number(atOnce) }, async () => {
      while (performance.now() < until) if (await openSession()) replies++;
    }),
  );
  return replies * 1000 / (performance.now() - began);
}

await measure(1); // it is compiled by then
console.log(`replies a second: ${(await measure(Number(seconds))).toFixed(1)}`);
