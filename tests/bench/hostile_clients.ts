/**
 * Clients that try to fill a server's memory and never read. Arguments: port, file with the authority's
 * certificate, number, kind, path of the requests. Prints `open` when all have sent what they could.
 */
const [port = "", ca = "", count = "", kind = "", path = ""] = Deno.args;
const caCerts = [await Deno.readTextFile(ca)];
const PART = new Uint8Array(64 * 1024).fill(97);
/** Longest wait of a client for one write, in milliseconds; it then stops. */
const STUCK_MS = 1500;
/** Longest time that a client sends, in milliseconds, even if the server reads slowly. */
const LONGEST_MS = 4000;
/** Most bytes that a client sends: the clients attack the memory, not the processor. */
const MOST_BYTES = kind === "requests" ? 32 * 1024 : 2 * 1024 ** 2;
const WRONG = `Authorization: Basic ${btoa("alice:wrong")}\r\n`;
const HOST = "Host: localhost\r\n";

/** First bytes of a client, and the bytes that it repeats after them. */
const KINDS: Readonly<Record<string, [first: string, then: Uint8Array | undefined]>> = {
  headers: [`GET / HTTP/1.1\r\n${HOST}X: ${"a".repeat(47_000)}`, undefined],
  bodies: [`PUT ${path}upload HTTP/1.1\r\n${HOST}${WRONG}Content-Length: 1000000000\r\n\r\n`, PART],
  "small bodies": [
    `POST /rest/auth/HPC HTTP/1.1\r\n${HOST}${WRONG}Content-Type: application/json\r\nContent-Length: 65536\r\n\r\n`,
    PART.subarray(1000),
  ],
  requests: ["", new TextEncoder().encode(`GET /rest/auth HTTP/1.1\r\n${HOST}\r\n`.repeat(100))],
  answers: [`GET ${path} HTTP/1.1\r\n${HOST}\r\n`, undefined],
};
const [first, then] = KINDS[kind] ?? [];
if (first === undefined) throw new TypeError(`expected one of ${Object.keys(KINDS).join(", ")}`);

async function attack(): Promise<Deno.TlsConn> {
  const connection = await Deno.connectTls({ hostname: "localhost", port: Number(port), caCerts });
  await connection.write(new TextEncoder().encode(first));
  return connection;
}

/** Sends until the server stops reading, or a limit is reached. */
async function fill(connection: Deno.TlsConn, bytes: Uint8Array): Promise<void> {
  const until = performance.now() + LONGEST_MS;
  for (let sent = 0; sent < MOST_BYTES && performance.now() < until; sent += bytes.length) {
    const { promise: stuck, resolve } = Promise.withResolvers<"stuck">();
    const timer = setTimeout(() => resolve("stuck"), STUCK_MS);
    const outcome = await Promise.race([connection.write(bytes).catch(() => "cut"), stuck]);
    clearTimeout(timer);
    if (typeof outcome === "string") return;
  }
}

const open: Deno.TlsConn[] = [];
const filling: Promise<void>[] = [];
for (let i = 0; i < Number(count); i++) {
  const connection = await attack();
  open.push(connection);
  if (then) filling.push(fill(connection, then));
  if (i % 50 === 49) await Promise.all(filling);
}
await Promise.all(filling);
await new Promise((resolve) => setTimeout(resolve, STUCK_MS));
console.log(`open: ${open.length}`);
setInterval(() => open.length, 1000);
