import { externalUrlAt } from "../../config/external_url.ts";
import type { DatabaseConfig, LogicalServerConfig, ServiceConfig } from "../../config/service_config.ts";
import { exchange } from "../../daemon/command_connection.ts";
import { DAEMON_LIMITS } from "../../daemon/daemon_pool.ts";
import { encodePing } from "../../daemon/encode_command.ts";
import { describeFailure, failure, remedyOf } from "../../daemon/exchange.ts";
import { parsePing } from "../../daemon/parse_reply.ts";
import { counted } from "../../model/text.ts";
import { HttpError } from "../../model/http_error.ts";
import { type ProbedRemote, type ProbeParts, REMOTE_FIX } from "../../outgoing/probed_kind.ts";
import { DatabaseFailure, row } from "../../store/database.ts";
import type { Snapshot } from "../../service/assembly/load_snapshot.ts";
import { OutgoingClients } from "../../service/assembly/outgoing_clients.ts";
import { OwnCertificate } from "../../service/assembly/own_certificate.ts";
import { configuredKinds, KINDS } from "../../service/kinds.ts";
import { SYSLOG_PORT } from "../../workers/syslog_server.ts";

export interface Finding {
  readonly system: string; // for example `daemon HPC-2` or `method OAUTH`
  readonly address: string;
  readonly ok: boolean;
  readonly found: string;
  readonly fix?: string | undefined;
}

interface Parts extends ProbeParts {
  readonly own: OwnCertificate;
  readonly outgoing: OutgoingClients;
}

const DAY_MS = 86_400_000;

/** Contacts every daemon, database and other system once, as the service would, without credentials of users. */
export async function checkOnline(
  { config, material }: Snapshot,
  { log, clock, kinds = KINDS }: Pick<Parts, "log" | "clock"> & { readonly kinds?: typeof KINDS },
): Promise<readonly Finding[]> {
  const own = new OwnCertificate(material);
  const outgoing = new OutgoingClients(config.outgoing, own, log);
  const parts = { own, outgoing, log, clock, externalUrl: externalUrlAt(config.site, config.site.port) };
  try {
    return (await Promise.all([
      ...config.servers.flatMap((server) => checkDaemons(server, parts)),
      ...config.sharing.database === undefined ? [] : [checkDatabase(config.sharing.database, parts)],
      ...(await configuredKinds(config, kinds)).flatMap(({ sort, config, kind }) =>
        (kind.remotes?.(config) ?? []).map((remote) => checkRemote(`${sort} ${config.name}`, remote, parts))
      ),
      ...logServers(config).map((server) => checkRemote("log server", server, parts)),
    ])).flat();
  } finally {
    outgoing.close();
  }
}

function checkDaemons({ name, instances }: LogicalServerConfig, { own, clock }: Parts) {
  return instances.map(async ({ expectedDn, ...instance }, i) => {
    const { commandHost, commandPort, ssl, allowUnverifiable } = instance;
    const material = () => own.daemonMaterial(name);
    const tls = ssl ? { material, expectedDn, allowUnverifiable } : undefined;
    // Always completes, since a broken connection hangs a daemon.
    const pinged = await exchange({ host: commandHost, port: commandPort, tls }, encodePing(), {
      limits: () => DAEMON_LIMITS,
      signal: new AbortController().signal,
      clock,
    });
    const reply = pinged.kind === "answered" ? parsePing(pinged.reply) : undefined;
    const failed = pinged.kind === "failed" ? pinged : failure("invalid-reply", "after");
    const limit = reply?.sessionLimit === undefined
      ? ""
      : `, at most ${reply.sessionLimit} sessions per account`;
    return [{
      system: `daemon ${instances.length === 1 ? name : `${name}-${i + 1}`}`,
      address: `${commandHost}:${commandPort}`,
      ok: reply !== undefined,
      found: reply === undefined ? describeFailure(failed) : `UFTPD ${reply.version}${limit}`,
      fix: reply === undefined ? remedyOf(failed) : undefined,
    }];
  });
}

async function checkDatabase(config: DatabaseConfig, { own, clock }: Parts): Promise<readonly Finding[]> {
  const { postgresOptions } = await import("../../service/assembly/open_database.ts");
  const { PostgresDatabase } = await import("../../store/postgres/postgres_database.ts");
  const address = config.servers.map(({ host, port }) => `${host}:${port}`).join(",");
  const system = `database ${config.database}`;
  using database = new PostgresDatabase(await postgresOptions(config, () => own.material().anchors, clock));
  try {
    const version =
      "SELECT current_setting('server_version') AS version, version AS tables FROM schema_version";
    const found = await database.read(() => row(version, {}));
    await database.checkSessions();
    const text = `PostgreSQL ${found?.["version"]}, tables of version ${found?.["tables"]}`;
    return [{ system, address, ok: true, found: text }];
  } catch (error) {
    if (!(error instanceof DatabaseFailure)) throw error;
    return [{ system, address, ok: false, found: error.message }];
  }
}

/** Probes the certificate first: its diagnosis is more precise than that of the request. */
async function checkRemote(system: string, remote: ProbedRemote, parts: Parts): Promise<readonly Finding[]> {
  const { address } = remote;
  try {
    const ends = await parts.outgoing.probeCertificate(remote);
    const { ok, found, fix } = await remote.probe(parts);
    const certificate = ends === undefined
      ? "not encrypted"
      : ends === "verified"
      ? "certificate valid"
      : `certificate valid for ${counted(Math.floor((ends - parts.clock()) / DAY_MS), "day", "days")}`;
    return [{ system, address, ok, found: `${certificate}; ${found}`, fix }];
  } catch (error) {
    if (!(error instanceof HttpError)) throw error;
    return [{ system, address, ok: false, found: messages(error).join(": "), fix: REMOTE_FIX }];
  }
}

/** Returns the log server of audit lines; only the handshake shows whether it accepts them. */
function logServers({ audit }: ServiceConfig): readonly ProbedRemote[] {
  if (audit.to !== "syslog") return [];
  const probe = () => Promise.resolve({ ok: true, found: "takes connections" });
  return [{ address: audit.address, defaultPort: SYSLOG_PORT, label: "log server", probe }];
}

function messages(error: unknown): readonly string[] {
  if (!(error instanceof Error)) return [];
  return [error.message, ...messages(error.cause).filter((text) => !error.message.includes(text))];
}
