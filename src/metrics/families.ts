/** Metric, for `# HELP`, `# TYPE` and the manual. */
export interface Family {
  readonly type: "counter" | "gauge" | "histogram";
  readonly help: string; // without full stop
  readonly labels: readonly string[]; // without `le`
}

/** All metrics in order; dashboards and alert rules use only these. */
export const FAMILIES = {
  authserver_build_info: {
    type: "gauge",
    help: "Always 1; the labels say what is running",
    labels: ["version", "deno"],
  },
  authserver_start_time_seconds: {
    type: "gauge",
    help: "Start of the process, in seconds since the epoch",
    labels: [],
  },
  authserver_resident_memory_bytes: {
    type: "gauge",
    help: "Memory of the whole process",
    labels: [],
  },
  authserver_core_up: {
    type: "gauge",
    help: "1 if the core answers the supervisor, else 0, and all that only the core knows is missing",
    labels: [],
  },
  authserver_core_generation: {
    type: "gauge",
    help: "Number of the core in use: 1 after the start, one more after each reload",
    labels: [],
  },
  authserver_worker_restarts_total: {
    type: "counter",
    help: "Workers that died and were started again",
    labels: ["worker"],
  },
  authserver_event_loop_lag_seconds: {
    type: "gauge",
    help: "Longest delay of a timer since the last look, about a second ago",
    labels: ["worker"],
  },
  authserver_core_stall_seconds: {
    type: "histogram",
    help: "How long the event loops of edge and core stood still, looked at 50 times a second",
    labels: ["worker"],
  },
  authserver_unhandled_rejections_total: {
    type: "counter",
    help: "Failures that no code expected; the worker goes on, and the log has an error",
    labels: ["worker"],
  },
  authserver_config_reloads_total: {
    type: "counter",
    help: "Attempts to take over a changed configuration",
    labels: ["result"],
  },
  authserver_config_last_reload_success: {
    type: "gauge",
    help: "1 if the configuration on disk is in use, 0 if the last reload failed",
    labels: [],
  },
  authserver_config_last_reload_timestamp_seconds: {
    type: "gauge",
    help: "When the configuration was last read, successfully or not, in seconds since the epoch",
    labels: [],
  },
  authserver_sink_up: {
    type: "gauge",
    help:
      "1 if audit lines, log, console, databases and their records of uses can be written, else 0; authserver status says why",
    labels: ["sink"],
  },
  authserver_sink_lost_total: {
    type: "counter",
    help: "Lines and records that could not be written and are lost",
    labels: ["sink"],
  },
  authserver_requests_total: {
    type: "counter",
    help: "Requests answered; route is the pattern of the path, or none",
    labels: ["route", "method", "code"],
  },
  authserver_request_duration_seconds: {
    type: "histogram",
    help: "Time from the request's arrival in the core to its answer",
    labels: ["route", "method"],
  },
  authserver_authentications_total: {
    type: "counter",
    help: "What the methods of authentication made of credentials of their kind",
    labels: ["authenticator", "result"],
  },
  authserver_sessions_total: {
    type: "counter",
    help: "Sessions with transfer daemons, granted or refused",
    labels: ["server", "decision"],
  },
  authserver_tokens_total: {
    type: "counter",
    help: "Tokens of the service's own, granted or refused",
    labels: ["decision"],
  },
  authserver_token_revocations_total: {
    type: "counter",
    help: "Requests of users to revoke one or all of their tokens",
    labels: ["decision"],
  },
  authserver_ssh_certificates_total: {
    type: "counter",
    help: "OpenSSH certificates that were shown or to be forgotten (action: shown, forgotten)",
    labels: ["action", "decision"],
  },
  authserver_share_decisions_total: {
    type: "counter",
    help: "Requests to make, change, delete or use shares, granted or refused",
    labels: ["server", "decision"],
  },
  authserver_admin_actions_total: {
    type: "counter",
    help: "Actions of administrators, granted or refused",
    labels: ["decision"],
  },
  authserver_share_bytes_total: {
    type: "counter",
    help: "Bytes of shared files that passed through the service",
    labels: ["direction"],
  },
  authserver_shares: {
    type: "gauge",
    help: "Shares in the store",
    labels: [],
  },
  authserver_bans: {
    type: "gauge",
    help: "Users and addresses that have to wait, by the reason why",
    labels: ["reason"],
  },
  authserver_daemon_up: {
    type: "gauge",
    help: "1 if the transfer daemon can take sessions, else 0; daemon is its number in the group",
    labels: ["server", "daemon"],
  },
  authserver_daemon_latency_seconds: {
    type: "gauge",
    help: "Time that the daemon's last answer took, connection included",
    labels: ["server", "daemon"],
  },
  authserver_identity_provider_up: {
    type: "gauge",
    help: "1 if the identity provider of the method answers, else 0; missing before it was first asked",
    labels: ["authenticator"],
  },
  authserver_instances: {
    type: "gauge",
    help:
      "Instances of the service that share a database, by state: serving or silent; missing where there is one alone",
    labels: ["state"],
  },
  authserver_instances_differ: {
    type: "gauge",
    help: "1 if instances of the same version are configured differently, else 0",
    labels: [],
  },
  authserver_database_up: {
    type: "gauge",
    help: "1 if the service can work with the database that instances share, else 0",
    labels: [],
  },
  authserver_database_degraded: {
    type: "gauge",
    help:
      "1 if the database refuses further connections, or changes of other instances are not heard of, else 0",
    labels: [],
  },
  authserver_database_defects_total: {
    type: "counter",
    help: "Statements that the database refused as wrong: defects of the service, which the log names",
    labels: [],
  },
  authserver_certificate_expiry_timestamp_seconds: {
    type: "gauge",
    help: "End of the service's certificate, in seconds since the epoch",
    labels: [],
  },
} as const satisfies Readonly<Record<string, Family>>;

/** Name of a metric, without histogram suffixes. */
export type FamilyName = keyof typeof FAMILIES;

/** Labels of a metric. */
export type LabelsOf<N extends FamilyName> = Readonly<Record<typeof FAMILIES[N]["labels"][number], string>>;
