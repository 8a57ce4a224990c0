import type { AuditReceiver } from "../logging/audit_stream.ts";
import type { Logger } from "../logging/logger.ts";
import { unlessAborted } from "../model/clock.ts";
import type { Snapshot } from "../service/assembly/load_snapshot.ts";

/** Port of syslog over TLS (RFC 5425, 4.1). */
export const SYSLOG_PORT = 6514;

const PRIORITY = 13 * 8 + 6; // facility 13, log audit, and severity 6, informational (RFC 5424, 6.2.1)

const WRITE_MS = 10_000;

interface SyslogOptions {
  readonly address: string; // `tls://host:port`
  readonly hostName: string;
  readonly log: Logger;
  readonly snapshot: () => Snapshot; // returns configuration and certificates in use, which reloads replace
  readonly writeMs?: number; // default: 10 s
}

/** Returns a log server that receives syslog messages over TLS (RFC 5424, RFC 5425), which have no acknowledgements. */
export function syslogServer(
  { address, hostName, log, snapshot, writeMs = WRITE_MS }: SyslogOptions,
): AuditReceiver {
  // HOSTNAME of RFC 5424 is ASCII without blanks, at most 255 characters.
  const host = hostName.replaceAll(/[^!-~]/g, "").slice(0, 255) || "-";
  return {
    name: address,
    async open(signal) {
      const { OutgoingClients } = await import("../service/assembly/outgoing_clients.ts");
      const { OwnCertificate } = await import("../service/assembly/own_certificate.ts");
      const { config: { outgoing }, material } = snapshot();
      const clients = new OutgoingClients(outgoing, new OwnCertificate(material), log);
      const connection = await clients.connect({ address, defaultPort: SYSLOG_PORT }, signal);
      let ended = false;
      const end = () => void (ended = true);
      void (async () => {
        while (await connection.read() !== undefined);
      })().then(end, end);
      return {
        async write(bytes) {
          if (ended) throw new Error("the log server closed the connection");
          const limit = new AbortController();
          const late = new Error(`the log server took no line within ${writeMs} ms`);
          const timer = setTimeout(() => limit.abort(late), writeMs);
          await unlessAborted(connection.write(bytes), limit.signal).finally(() => clearTimeout(timer));
        },
        close: () => connection.close(),
      };
    },
    frame(line) {
      const time = /^\{"time":"([^"]+)"/.exec(line)?.[1] ?? "-";
      const message = `<${PRIORITY}>1 ${time} ${host} authserver ${Deno.pid} audit - ${line}`;
      const length = new TextEncoder().encode(message).length; // octet counting (RFC 5425, 4.3)
      return new TextEncoder().encode(`${length} ${message}`);
    },
  };
}
