import { Buffer } from "node:buffer";
import type { ProxyConfig } from "../config/service_config.ts";
import { addressInRange, canonicalAddress, isAddressRange } from "../model/address.ts";
import { printable } from "../model/text.ts";
import { matchesWildcards } from "../model/wildcards.ts";
import { closeQuietly, writeAll } from "../model/regular_file.ts";

const MAX_BYTES = 16 * 1024; // bytes of the response
const END = "\r\n\r\n";

/** Reports whether a host (without brackets) is reached through the proxy, unlike this machine and exceptions. */
export function goesThroughProxy(host: string, { direct }: Pick<ProxyConfig, "direct">): boolean {
  const name = host.toLowerCase().replace(/\.$/, "");
  const address = canonicalAddress(name);
  if (name === "localhost" || address === "::1") return false;
  if (address !== undefined && addressInRange(address, "127.0.0.0/8")) return false;
  return !direct.some((written) => {
    const pattern = written.toLowerCase();
    if (address !== undefined && isAddressRange(pattern)) return addressInRange(address, pattern);
    if (pattern.startsWith(".")) return name === pattern.slice(1) || name.endsWith(pattern);
    return matchesWildcards(name, pattern);
  });
}

/** Opens a tunnel (CONNECT, RFC 9110, 9.3.6) within `limitMs`. @throws {Error} With the proxy's response. */
export async function openTunnel(
  { host, port }: { readonly host: string; readonly port: number },
  { proxy, limitMs }: { readonly proxy: ProxyConfig; readonly limitMs: number },
): Promise<Deno.TcpConn> {
  const connection = await Deno.connect({ hostname: proxy.host, port: proxy.port });
  using _timer = setTimeout(() => connection.close(), limitMs);
  try {
    const authority = `${host.includes(":") ? `[${host}]` : host}:${port}`;
    const head = [`CONNECT ${authority} HTTP/1.1`, `Host: ${authority}`, ...login(proxy), END.slice(2)];
    await writeAll(connection, new TextEncoder().encode(head.join("\r\n")));
    checkAnswer(await readHead(connection), proxy);
    return connection;
  } catch (error) {
    closeQuietly(connection); // perhaps after the timeout
    throw error;
  }
}

/** RFC 7617, 2.1: UTF-8. */
function login({ user, password }: ProxyConfig): readonly string[] {
  if (user === undefined) return [];
  return [`Proxy-Authorization: Basic ${Buffer.from(`${user}:${password ?? ""}`).toString("base64")}`];
}

/** Reads the head byte by byte, since the tunnel's data follows. */
async function readHead(connection: Deno.TcpConn): Promise<string> {
  const buffer = new Uint8Array(MAX_BYTES);
  let head = "";
  while (head.length < MAX_BYTES) {
    const length = await connection.read(buffer.subarray(head.length));
    if (length === null) throw new Error("the proxy closed the connection");
    head += Buffer.from(buffer.subarray(head.length, head.length + length)).toString("latin1");
    const end = head.indexOf(END);
    if (end === -1) continue;
    // TLS servers do not speak first, so early bytes are injected.
    if (/^HTTP\/1\.[01] 2/.test(head) && end + END.length < head.length) {
      throw new Error("the proxy sent more than an answer to CONNECT");
    }
    return head.slice(0, end);
  }
  throw new Error(`the answer of the proxy is longer than ${MAX_BYTES} bytes`);
}

function checkAnswer(head: string, proxy: ProxyConfig): void {
  const [line = ""] = head.split("\r\n", 1);
  const [, status] = /^HTTP\/1\.[01] ([0-9]{3})(?: |$)/.exec(line) ?? [];
  if (status === undefined) throw new Error("what answers is no HTTP proxy");
  if (status.startsWith("2")) return;
  if (status === "407") {
    const what = proxy.user === undefined ? "wants a user name and a password" : "does not accept our login";
    throw new Error(`the proxy ${what} (status 407): see container.client.http.proxy.user`);
  }
  throw new Error(`the proxy refuses the connection: ${printable(line.slice(0, 200))}`);
}
