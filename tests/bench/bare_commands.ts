/**
 * The yardstick for sessions: a bare loop of TLS command connections. Arguments: port of the command socket,
 * folder with `auth-cert.pem`, `auth-key.pem` and `ca.pem`, concurrent connections, seconds, replies of the
 * warm-up. Prints the replies per second and the processor time of this process, all threads, for each.
 * Like every client, it verifies the daemon's certificate by the platform's TLS and presents its own.
 */
import process from "node:process";
import { connect, createSecureContext } from "node:tls";

const [port = "", folder = "", atOnce = "", seconds = "", warmUp = ""] = Deno.args;
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

/**
 * Opens sessions while `wanted` holds. @returns Replies a second, and microseconds of processor time each.
 */
async function measure(
  wanted: (replies: number, ms: number) => boolean,
): Promise<{ readonly rate: number; readonly cost: number }> {
  let replies = 0;
  const before = process.cpuUsage();
  const began = performance.now();
  await Promise.all(
    Array.from({ length: Number(atOnce) }, async () => {
      while (wanted(replies, performance.now() - began)) if (await openSession()) replies++;
    }),
  );
  const { user, system } = process.cpuUsage(before);
  return { rate: replies * 1000 / (performance.now() - began), cost: (user + system) / replies };
}

await measure((replies) => replies < Number(warmUp)); // compiles hot code
const { rate, cost } = await measure((_, ms) => ms < Number(seconds) * 1000);
console.log(`replies a second: ${rate.toFixed(1)}, processor time of each: ${cost.toFixed(1)} µs`);
