import type { Judged } from "../authentication/chain.ts";
import type { AuditRecord } from "../logging/audit_record.ts";
import { Counters, DurationHistogram, type Increments, methodLabel } from "../metrics/counters.ts";
import type { Route } from "./http/router.ts";
import type { Trace } from "./identify.ts";

/** Answered request. */
export interface AnsweredRequest extends Trace {
  readonly request: string;
  readonly method: string;
  readonly status: number;
  readonly ms: number;
  readonly failure: string | undefined; // error code
}

interface Tally {
  readonly codes: Map<number, number>;
  readonly durations: DurationHistogram;
}

type Outcome = "accepted" | "refused" | "unavailable";

/** Counts requests and decisions, and passes decisions to the audit stream. */
export class RequestObserver {
  readonly #tallies = new Map<string, Map<string, Tally>>();
  readonly #outcomes = new Map<string, Map<Outcome, number>>();
  readonly #counters = new Counters();
  readonly #servers: ReadonlySet<string>;
  readonly #audit: (record: AuditRecord) => void;

  /** @param servers Known servers; unknown names share a series. */
  constructor(
    { servers, audit }: {
      readonly servers: readonly string[];
      readonly audit: (record: AuditRecord) => void;
    },
  ) {
    this.#servers = new Set(servers);
    this.#audit = audit;
  }

  answered(answer: AnsweredRequest): void {
    const { route, method, status, ms } = answer;
    const tally = this.#tally(route?.path ?? "none", methodLabel(method));
    tally.codes.set(status, (tally.codes.get(status) ?? 0) + 1);
    tally.durations.add(ms);
    if (route?.audit !== undefined) this.#decided(route, answer);
  }

  /** Counts the authenticator's result, unless it skipped the credentials. */
  readonly judged: Judged = (authenticator, { kind }) => {
    if (kind === "skipped") return;
    const result: Outcome = kind === "failed" ? "unavailable" : kind;
    const results = this.#outcomes.get(authenticator);
    if (results === undefined) this.#outcomes.set(authenticator, new Map([[result, 1]]));
    else results.set(result, (results.get(result) ?? 0) + 1);
  };

  transferred(direction: "download" | "upload", bytes: number): void {
    this.#counters.count("authserver_share_bytes_total", { direction }, bytes);
  }

  /** Returns and resets the counts. */
  take(): Increments {
    for (const [route, methods] of this.#tallies) {
      for (const [method, { codes, durations }] of methods) {
        if (codes.size === 0) continue;
        for (const [code, count] of codes) {
          this.#counters.count("authserver_requests_total", { route, method, code: String(code) }, count);
        }
        codes.clear();
        durations.moveTo(this.#counters, "authserver_request_duration_seconds", { route, method });
      }
    }
    for (const [method, results] of this.#outcomes) {
      for (const [result, count] of results) {
        this.#counters.count("authserver_authentications_total", { authenticator: method, result }, count);
      }
      results.clear();
    }
    return this.#counters.take();
  }

  #tally(route: string, method: string): Tally {
    let methods = this.#tallies.get(route);
    if (methods === undefined) this.#tallies.set(route, methods = new Map());
    let tally = methods.get(method);
    if (tally === undefined) {
      methods.set(method, tally = { codes: new Map(), durations: new DurationHistogram() });
    }
    return tally;
  }

  #decided(
    { audit, path }: Route,
    { request, method, client, dn, via, facts, failure }: AnsweredRequest,
  ): void {
    if (audit === undefined) return;
    const decision = failure === undefined ? "granted" : "refused";
    const server = this.#servers.has(facts.server ?? "") ? facts.server ?? "" : "unknown";
    switch (audit) {
      case "session":
        this.#counters.count("authserver_sessions_total", { server, decision });
        break;
      case "token":
        this.#counters.count("authserver_tokens_total", { decision });
        break;
      case "revoke":
        this.#counters.count("authserver_token_revocations_total", { decision });
        break;
      case "certificate": {
        const action = method === "DELETE" ? "forgotten" : "shown";
        this.#counters.count("authserver_ssh_certificates_total", { action, decision });
        break;
      }
      case "share":
        this.#counters.count("authserver_share_decisions_total", { server, decision });
        break;
      case "admin":
        this.#counters.count("authserver_admin_actions_total", { decision });
        break;
    }
    if (failure === "ERR_AUDIT_UNAVAILABLE") return; // strangers would push waiting lines out of the queue
    this.#audit({
      ...facts,
      event: audit,
      decision,
      request,
      action: `${method} ${path}`,
      client,
      dn,
      method: via,
      reason: failure,
    });
  }
}
