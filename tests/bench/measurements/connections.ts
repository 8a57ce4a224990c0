import { startBareServer, startBenchSite } from "../bench_site.ts";
import type { ChildProcess } from "../child_process.ts";
import { compare, type Side } from "../comparison.ts";
import type { Measurement } from "../figure.ts";
import { connectForAWhile } from "../tls_client.ts";

/** Clients, each of which opens one connection after the other. */
const CLIENTS = 8;
/** Connections until hot code is compiled. */
const WARM_UP = 10_000;

export const connections: Measurement = {
  name: "connections",
  summary: "New TLS connections with full handshakes, compared with the bare server",
  async run() {
    await using bench = await startBenchSite();
    const bare = await startBareServer(bench);
    await using process = bare.process;
    const side = (of: ChildProcess, url: string): Side => ({
      process: of,
      run: (seconds) => connectForAWhile(new URL(url).host, CLIENTS, seconds),
    });
    return await compare(side(bench.process, bench.url), side(process, bare.url), {
      unit: "connections/s",
      atMost: { all: 1.2 },
      warmUpWith: WARM_UP,
    });
  },
};
