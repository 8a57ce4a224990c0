import { Agent as HttpAgent, type AgentOptions } from "node:http";
import { Agent as HttpsAgent } from "node:https";
import type { Duplex } from "node:stream";
import { connectionOver, openTls, type TlsRules } from "./open_tls.ts";
import { TlsStream } from "./tls_stream.ts";

interface Wanted {
  readonly host?: string | null;
  readonly port?: string | number | null;
}

/** Agent for systems without TLS, see `requireHttps()`. */
export class PlainAgent extends HttpAgent {
  readonly #connectTimeoutMs: number;

  constructor(options: AgentOptions, connectTimeoutMs: number) {
    super(options);
    this.#connectTimeoutMs = connectTimeoutMs;
  }

  override createConnection({ host, port }: Wanted): Duplex {
    const target = { hostname: withoutBrackets(host), port: Number(port ?? 80) };
    return new TlsStream(async () => connectionOver(await Deno.connect(target)), this.#connectTimeoutMs);
  }
}

/** Agent whose connections {@link openTls} opens and verifies. */
export class VerifiedAgent extends HttpsAgent {
  readonly #rules: TlsRules;

  constructor(options: AgentOptions, rules: TlsRules) {
    super(options);
    this.#rules = rules;
  }

  override createConnection({ host, port }: Wanted): Duplex {
    const target = { host: withoutBrackets(host), port: Number(port ?? 443) };
    return new TlsStream(() => openTls(target, this.#rules), this.#rules.connectTimeoutMs);
  }
}

function withoutBrackets(host: string | null = ""): string {
  return (host ?? "").replace(/^\[|\]$/g, "");
}
