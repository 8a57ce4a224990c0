import { Agent, type AgentOptions } from "node:http";
import type { Duplex } from "node:stream";
import { connectionOver } from "./open_tls.ts";
import { TlsStream } from "./tls_stream.ts";

/** Connections for `node:http` to systems that the operator has reached without TLS, see `requireHttps()`. */
export class PlainAgent extends Agent {
  readonly #connectTimeoutMs: number;

  constructor(options: AgentOptions, connectTimeoutMs: number) {
    super(options);
    this.#connectTimeoutMs = connectTimeoutMs;
  }

  override createConnection({ host, port }: { host?: string | null; port?: string | number | null }): Duplex {
    const target = { hostname: (host ?? "").replace(/^\[|\]$/g, ""), port: Number(port ?? 80) };
    return new TlsStream(async () => connectionOver(await Deno.connect(target)), this.#connectTimeoutMs);
  }
}
