/** Metric, for `# HELP`, `# TYPE` and the manual. */
export interface Family {
  readonly type: "counter" | "gauge" | "histogram";
  readonly help: string; // without full stop
  readonly labels: readonly string[]; // without `le`
}

function family<T extends Family["type"]>(type: T) {
  return <L extends string = never>(help: string, ...labels: readonly L[]) => ({ type, help, labels });
}

const [counter, gauge, histogram] = [family("counter"), family("gauge"), family("histogram")];

/** All metrics in order, with their labels; dashboards and alert rules use only these. */
export const FAMILIES = {
  authserver_build_info: gauge("Always 1; the labels say what is running", "version", "deno"),
  authserver_start_time_seconds: gauge("Start of the process, in seconds since the epoch"),
  authserver_resident_memory_bytes: gauge("Memory of the whole process"),
  authserver_core_up: gauge(
    "1 if the core answers the supervisor; else 0, and the metrics of the core are missing",
  ),
  authserver_core_generation: gauge(
    "Number of the core in use: 1 after the start, one more after each reload",
  ),
  authserver_worker_restarts_total: counter("Workers that died and were started again", "worker"),
  authserver_event_loop_lag_seconds: gauge(
    "Longest delay of a timer since the last measurement, about a second ago",
    "worker",
  ),
  authserver_core_stall_seconds: histogram(
    "How long the event loops of edge and core were blocked, measured 4 times a second, less often while idle",
    "worker",
  ),
  authserver_unhandled_rejections_total: counter(
    "Unhandled promise rejections; the worker continues, and the log has an error",
    "worker",
  ),
  authserver_config_reloads_total: counter("Attempts to reload a changed configuration", "result"),
  authserver_config_last_reload_success: gauge(
    "1 if the configuration on disk is in use, 0 if the last reload failed",
  ),
  authserver_config_last_reload_timestamp_seconds: gauge(
    "When the configuration was last read, successfully or not, in seconds since the epoch",
  ),
  authserver_refused_files: gauge(
    "Errors in files (users, keys, attributes, reservations, certificates) whose version on disk is not in use",
  ),
  authserver_sink_up: gauge(
    "1 if the sink (audit, log, console, database, webhook, mail) works, else 0; authserver status has the reason",
    "sink",
  ),
  authserver_sink_lost_total: counter("Lines and records that could not be written and are lost", "sink"),
  authserver_requests_total: counter(
    "Requests answered; route is the pattern of the path, or none",
    "route",
    "method",
    "code",
  ),
  authserver_request_duration_seconds: histogram(
    "Time from the request's arrival in the core to its answer",
    "route",
    "method",
  ),
  authserver_authentications_total: counter(
    "Results of authenticators for credentials of their kind",
    "authenticator",
    "result",
  ),
  authserver_sessions_total: counter(
    "Sessions with transfer daemons, granted or refused",
    "server",
    "decision",
  ),
  authserver_tokens_total: counter("Requests for tokens of this service, granted or refused", "decision"),
  authserver_token_revocations_total: counter(
    "Requests of users to revoke one or all of their tokens",
    "decision",
  ),
  authserver_ssh_certificates_total: counter(
    "Uploads and removals of OpenSSH certificates (action: uploaded, removed)",
    "action",
    "decision",
  ),
  authserver_share_decisions_total: counter(
    "Requests to make, change, delete or use shares, granted or refused",
    "server",
    "decision",
  ),
  authserver_admin_actions_total: counter("Actions of administrators, granted or refused", "decision"),
  authserver_share_bytes_total: counter("Bytes of shared files that passed through the service", "direction"),
  authserver_shares: gauge("Shares in the store"),
  authserver_bans: gauge("Banned and throttled users and addresses, by reason", "reason"),
  authserver_daemon_up: gauge(
    "1 if the transfer daemon can take sessions, else 0; daemon is its number in the group",
    "server",
    "daemon",
  ),
  authserver_daemon_latency_seconds: gauge(
    "Time that the daemon's last answer took, connection included",
    "server",
    "daemon",
  ),
  authserver_identity_provider_up: gauge(
    "1 if the identity provider or the attribute source (attributes.<name>) answers, else 0; missing before the first request",
    "authenticator",
  ),
  authserver_instances: gauge(
    "Instances of the service that share a database, by state: serving or silent; missing where there is one alone",
    "state",
  ),
  authserver_instances_differ: gauge("1 if instances of the same version are configured differently, else 0"),
  authserver_database_up: gauge("1 if the service can work with the database that instances share, else 0"),
  authserver_database_degraded: gauge(
    "1 if the database refuses connections or changes, or notifications of other instances do not arrive, else 0",
  ),
  authserver_database_defects_total: counter(
    "Statements that the database refused as wrong: defects of the service, which the log names",
  ),
  authserver_certificate_start_timestamp_seconds: gauge("Start of the certificate, seconds since the epoch"),
  authserver_certificate_expiry_timestamp_seconds: gauge(
    "End of the service's certificate, in seconds since the epoch",
  ),
};

/** Name of a metric, without histogram suffixes. */
export type FamilyName = keyof typeof FAMILIES;

export type LabelsOf<N extends FamilyName> = Readonly<Record<typeof FAMILIES[N]["labels"][number], string>>;
