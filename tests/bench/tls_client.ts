import type { Count } from "./comparison.ts";

/**
 * Opens TLS connections for some time, each with a full handshake, and closes them without a request.
 * @param host Host with port.
 * @param clients Concurrent clients; each opens one connection after the other.
 * @throws If a client got no connection.
 */
export async function connectForAWhile(host: string, clients: number, seconds: number): Promise<Count> {
  const counts = await Promise.all(Array.from({ length: clients }, async () => {
    const { stdout } = await new Deno.Command("openssl", {
      args: ["s_time", "-connect", host, "-new", "-time", String(seconds)],
      stderr: "null",
    }).output();
    const text = new TextDecoder().decode(stdout);
    const count = Number(/(\d+) connections in \d+ real seconds/.exec(text)?.[1] ?? 0);
    if (count === 0) throw new Error(`no connection to ${host}: ${text}`);
    return count;
  }));
  const requests = counts.reduce((sum, count) => sum + count, 0);
  return { requests, rate: requests / seconds, failures: 0, said: "" };
}
