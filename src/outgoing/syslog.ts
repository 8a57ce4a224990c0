import type { OutgoingConfig } from "../config/service_config.ts";
import type { AuditReceiver } from "../logging/audit_stream.ts";
import { SILENT } from "../logging/logger.ts";
import type { TlsMaterial } from "../model/tls_material.ts";

/** Port of syslog over TLS (RFC 5425, 4.1). */
const PORT = 6514;

/** Facility 13, log audit, and severity 6, informational (RFC 5424, 6.2.1). */
const PRIORITY = 13 * 8 + 6;

/** Log server, and who sends to it. */
export interface SyslogOptions {
  readonly address: string; // `tls://host:port`
  readonly hostName: string;
  /** Returns configuration and certificates in use, which reloads replace. */
  readonly snapshot: () => {
    readonly config: { readonly outgoing: OutgoingConfig };
    readonly material?: TlsMaterial | undefined;
  };
}

/**
 * Returns a log server that takes syslog messages over TLS (RFC 5425). RFC 5425 has no acknowledgements: lines that
 * the server had not read when it failed are lost.
 */
export function syslogServer({ address, hostName, snapshot }: SyslogOptions): AuditReceiver {
  // HOSTNAME of RFC 5424 is ASCII without blanks, at most 255 characters.
  const host = hostName.replaceAll(/[^!-~]/g, "").slice(0, 255) || "-";
  return {
    name: address,
    async open(signal) {
      const { config: { outgoing }, material } = snapshot();
      const rules = {
        config: { ...outgoing, proxy: undefined },
        trust: { anchors: material?.anchors ?? [], ...(material && { clientCertificate: material }) },
        log: SILENT,
      };
      const { connectTls } = await import("./connect_tls.ts");
      const connection = await connectTls({ address, defaultPort: PORT }, rules, signal);
      let ended = false;
      const end = () => void (ended = true);
      void (async () => {
        while (await connection.read() !== undefined);
      })().then(end, end);
      return {
        write(bytes) {
          if (ended) return Promise.reject(new Error("the log server closed the connection"));
          return connection.write(bytes);
        },
        close: () => connection.close(),
      };
    },
    frame(line) {
      const time = /"time":"([^"]+)"/.exec(line)?.[1] ?? "-";
      const message = new TextEncoder().encode(
        `<${PRIORITY}>1 ${time} ${host} authserver ${Deno.pid} audit - ${line}`,
      );
      // Octet counting (RFC 5425, 4.3).
      const length = new TextEncoder().encode(`${message.length} `);
      const frame = new Uint8Array(length.length + message.length);
      frame.set(length);
      frame.set(message, length.length);
      return frame;
    },
  };
}
