import { Agent, type AgentOptions } from "node:https";
import type { Duplex } from "node:stream";
import { openTls, type TlsRules } from "./open_tls.ts";
import { TlsStream } from "./tls_stream.ts";

/** Connections for `node:https` that are opened, and their servers judged, by {@link openTls}. */
export class VerifiedAgent extends Agent {
  readonly #rules: TlsRules;

  constructor(options: AgentOptions, rules: TlsRules) {
    super(options);
    this.#rules = rules;
  }

  override createConnection({ host, port }: { host?: string | null; port?: string | number | null }): Duplex {
    const target = { host: (host ?? "").replace(/^\[|\]$/g, ""), port: Number(port ?? 443) };
    return new TlsStream(() => openTls(target, this.#rules), this.#rules.connectTimeoutMs);
  }
}
