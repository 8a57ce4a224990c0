import { isDeepStrictEqual } from "node:util";
import type { ServiceConfig } from "../config/service_config.ts";
import { type AuditRecord, formatAuditLine } from "../logging/audit_record.ts";
import { AppendFile } from "../logging/append_file.ts";
import { type AuditReceiver, AuditStream, systemdJournal } from "../logging/audit_stream.ts";
import { AuditLines } from "../logging/audit_lines.ts";
import type { BufferedLines } from "../logging/buffered_lines.ts";
import type { LogFile } from "../logging/log_file.ts";
import { createLogger, type Logger } from "../logging/logger.ts";
import { Sink, type SinkState } from "../logging/sink.ts";
import { Counters, DurationHistogram } from "../metrics/counters.ts";
import type { FromWorker, Report } from "./worker_message.ts";

interface LastReload {
  readonly at: number; // milliseconds since the epoch
  readonly ok: boolean;
  readonly diagnostics: readonly string[]; // as in the log
}

const WORKERS = ["supervisor", "edge", "core"];

type ReportsConfig = Pick<ServiceConfig, "logging" | "audit">;

interface ReportsParts {
  /** Called when audit lines cannot be written any more, and when they can again. */
  readonly auditChanged?: () => void;
  readonly logServer: (address: string, log: Logger) => AuditReceiver;
}

/** Receives workers' log lines, audit lines, counts and delays, and writes the files. */
export class WorkerReports {
  readonly log: Logger;
  readonly counters = new Counters();
  readonly lagMs = new Map<string, number>(); // longest last reported timer delay by worker, in milliseconds
  /** Upper bound of the part of it that the worker's own work caused. */
  readonly ownLagMs = new Map<string, number>();
  /** Initially a success, for the start. */
  lastReload: LastReload = { at: Date.now(), ok: true, diagnostics: [] };
  refusedCertificates: readonly string[] = []; // errors of the last renewal, since the last successful reload
  readonly #delays = new DurationHistogram();
  #config: ReportsConfig;
  #audit: BufferedLines;
  readonly #auditSink: Sink;

  constructor(readonly logFile: LogFile, config: ReportsConfig, readonly parts: ReportsParts) {
    this.#config = config;
    this.log = createLogger(logFile.write, { threshold: () => this.#config.logging.level });
    this.#auditSink = new Sink("audit", this.log, parts.auditChanged);
    this.#audit = this.#openAudit();
    // Prometheus sees only the growth of counters that exist.
    for (const worker of WORKERS) this.rejected(worker, 0);
    const restarts = "authserver_worker_restarts_total";
    for (const worker of WORKERS.slice(1)) this.counters.count(restarts, { worker }, 0);
    for (const result of ["ok", "failed"]) {
      this.counters.count("authserver_config_reloads_total", { result }, 0);
    }
  }

  async moveTo(config: ReportsConfig): Promise<void> {
    const { audit } = this.#config;
    this.#config = config;
    this.logFile.moveTo(config.logging.file, config.logging);
    if (isDeepStrictEqual(audit, config.audit)) return;
    const before = this.#audit;
    this.#audit = this.#openAudit();
    const left = await before.close();
    if (left.length > 0) this.#audit.write(left);
  }

  /** @param worker `edge` or `core`. */
  receive(message: FromWorker, worker: string): void {
    switch (message.kind) {
      case "log":
        return this.logFile.writeLines(message.text);
      case "starting":
        return this.log.warn("worker still starting", message.fields);
      case "measured":
        return this.#take(message.report, worker);
    }
  }

  /** Health of audit, log file and console. */
  get sinks(): readonly SinkState[] {
    return [this.#auditSink.state, ...this.logFile.sinks];
  }

  get auditFailing(): boolean {
    return this.#auditSink.failing;
  }

  rejected(worker: string, times = 1): void {
    this.counters.count("authserver_unhandled_rejections_total", { worker }, times);
  }

  /** Remembers, counts and audits a reload. @param diagnostics Absent: it succeeded. */
  reloaded(diagnostics?: readonly string[]): void {
    const ok = diagnostics === undefined;
    if (ok) this.refusedCertificates = [];
    this.lastReload = { at: Date.now(), ok, diagnostics: diagnostics ?? [] };
    this.counters.count("authserver_config_reloads_total", { result: ok ? "ok" : "failed" });
    this.audit({ event: "reload", decision: ok ? "granted" : "refused", reason: diagnostics?.[0] });
  }

  audit(record: AuditRecord): void {
    this.writeAudit([formatAuditLine(Date.now(), record)]);
  }

  /** @param lines Without line ends. */
  writeAudit(lines: readonly string[]): void {
    this.#audit.write(lines);
  }

  retry(): void {
    this.#audit.retry();
    this.logFile.retry();
  }

  async close(): Promise<void> {
    const { length } = await this.#audit.close();
    if (length > 0) this.log.error("audit lines lost at the end", { lines: length });
    this.logFile.close();
  }

  #take({ counts, delaysMs, ownDelayMs, rejections }: Report, worker: string): void {
    this.counters.addAll(counts);
    this.rejected(worker, rejections);
    this.lagMs.set(worker, Math.max(0, ...delaysMs));
    this.ownLagMs.set(worker, ownDelayMs);
    for (const ms of delaysMs) this.#delays.add(ms);
    this.#delays.moveTo(this.counters, "authserver_core_stall_seconds", { worker });
  }

  #openAudit(): BufferedLines {
    const { logFile: { console }, log } = this;
    const { audit } = this.#config;
    switch (audit.to) {
      case "file":
        return new AuditLines(new AppendFile(audit.path, () => this.#config.logging), this.#auditSink);
      case "console":
        return new AuditLines({ path: "console", append: console, close: () => {} }, this.#auditSink);
      case "journal":
        return new AuditStream(systemdJournal(), this.#auditSink);
      case "syslog":
        return new AuditStream(this.parts.logServer(audit.address, log), this.#auditSink);
    }
  }
}
