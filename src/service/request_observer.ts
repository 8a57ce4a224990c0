import type { ResultListener } from "../authentication/chain.ts";
import type { AuditRecord } from "../logging/audit_record.ts";
import { Counters, DurationHistogram, type Increments, methodLabel } from "../metrics/counters.ts";
import type { HttpError } from "../model/http_error.ts";
import type { Route } from "./http/router.ts";
import type { Trace } from "./identify.ts";

/** Answer to a request, of which a {@link Trace} tells more. */
export interface Answered {
  readonly request: string; // its id
  readonly method: string;
  readonly status: number;
  readonly ms: number;
  readonly failure: HttpError | undefined;
}

/** Counts requests and decisions, and passes decisions to the audit stream. */
export class RequestObserver {
  readonly #durations = new Map<string, DurationHistogram>(); // by method, status and route, with blanks between
  readonly #counters = new Counters();

  /** @param servers Known servers; unknown names share a series. */
  constructor(readonly servers: readonly string[], readonly audit: (record: AuditRecord) => void) {}

  answered(trace: Trace, answer: Answered): void {
    const { route } = trace;
    const key = `${methodLabel(answer.method)} ${answer.status} ${route?.path ?? "none"}`;
    this.#durations.getOrInsertComputed(key, () => new DurationHistogram()).add(answer.ms);
    if (route !== undefined) this.#decided(route, trace, answer);
  }

  /** Counts the authenticator's result, unless it skipped the credentials. */
  readonly onResult: ResultListener = (authenticator, { kind }) => {
    if (kind === "skipped") return;
    const result = kind === "failed" ? "unavailable" : kind;
    this.#counters.count("authserver_authentications_total", { authenticator, result });
  };

  transferred(direction: "download" | "upload", bytes: number): void {
    this.#counters.count("authserver_share_bytes_total", { direction }, bytes);
  }

  take(): Increments {
    for (const [key, durations] of this.#durations) {
      const [method = "", code = "", route = ""] = key.split(" ", 3);
      this.#counters.count("authserver_requests_total", { route, method, code }, durations.count);
      durations.moveTo(this.#counters, "authserver_request_duration_seconds", { route, method });
    }
    this.#durations.clear();
    return this.#counters.take();
  }

  #decided(
    { audit, path }: Route,
    { client, dn, via, facts }: Trace,
    { request, method, failure }: Answered,
  ): void {
    if (audit === undefined) return;
    const reason = failure?.code;
    const decision = failure === undefined ? "granted" : "refused";
    const server = this.servers.find((name) => name === facts.server) ?? "unknown";
    if (audit === "session") this.#counters.count("authserver_sessions_total", { server, decision });
    if (audit === "share") this.#counters.count("authserver_share_decisions_total", { server, decision });
    if (audit === "token") this.#counters.count("authserver_tokens_total", { decision });
    if (audit === "revoke") this.#counters.count("authserver_token_revocations_total", { decision });
    if (audit === "admin") this.#counters.count("authserver_admin_actions_total", { decision });
    if (audit === "certificate") {
      const action = method === "DELETE" ? "removed" : "uploaded";
      this.#counters.count("authserver_ssh_certificates_total", { action, decision });
    }
    if (reason === "ERR_AUDIT_UNAVAILABLE") return; // else unknown clients could displace queued lines
    this.audit({
      ...facts,
      event: audit,
      decision,
      request,
      action: `${method} ${path}`,
      client,
      dn,
      method: via,
      reason,
    });
  }
}
