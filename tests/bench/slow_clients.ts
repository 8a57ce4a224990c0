/**
 * Clients that waste a server's time. Arguments: port, number of clients. A quarter of them only connects, a
 * quarter only completes the TLS handshake, a quarter sends a header byte by byte, a quarter a body byte by
 * byte. A client whose connection ends connects again.
 */
import { connect as connectTcp, type Socket } from "node:net";
import { connect } from "node:tls";

const [port = "", count = ""] = Deno.args;
const address = { host: "127.0.0.1", port: Number(port) };
const HEADER = "GET /rest/auth HTTP/1.1\r\nHost: localhost\r\nX-Slow: ".padEnd(10_000, "a");
const BODY =
  `POST /rest/auth/HPC HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 50000\r\n\r\n`;

const open = new Set<Socket>();

function waste(kind: number): void {
  const socket: Socket = kind % 4 === 0
    ? connectTcp(address)
    : connect({ ...address, rejectUnauthorized: false });
  let drip: ReturnType<typeof setInterval> | undefined;
  const text = kind % 4 === 2 ? HEADER : BODY;
  if (kind % 4 >= 2) {
    let at = kind % 4 === 2 ? 1 : BODY.length;
    socket.once("secureConnect", () => {
      socket.write(text.slice(0, at));
      drip = setInterval(() => socket.write(text[at++] ?? "x"), 500);
    });
  }
  open.add(socket);
  socket.resume();
  socket.on("error", () => {});
  socket.on("close", () => {
    clearInterval(drip);
    open.delete(socket);
    setTimeout(() => waste(kind), 100);
  });
}

for (let i = 0; i < Number(count); i++) {
  waste(i);
  if (i % 25 === 24) await new Promise((resolve) => setTimeout(resolve, 50));
}
const timer = setInterval(() => {
  if (open.size < Number(count) * 0.9) return;
  clearInterval(timer);
  console.log(`open: ${open.size}`);
}, 100);
