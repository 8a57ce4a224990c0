import type { WorkerReports } from "./worker_reports.ts";

/** Outcome of the last reload. */
interface LastReload {
  readonly at: number; // milliseconds since the epoch
  readonly ok: boolean;
  readonly diagnostics: readonly string[]; // what was wrong, as the log has it
}

/** Remembers the last reload, counts reloads and audits them. The start counts as a success. */
export class ReloadRecord {
  #last: LastReload = { at: Date.now(), ok: true, diagnostics: [] };

  constructor(readonly reports: WorkerReports) {
    for (const result of ["ok", "failed"]) {
      reports.counters.count("authserver_config_reloads_total", { result }, 0);
    }
  }

  get last(): LastReload {
    return this.#last;
  }

  succeeded(): void {
    this.#remember(true, []);
  }

  failed(diagnostics: readonly string[]): void {
    this.#remember(false, diagnostics);
  }

  #remember(ok: boolean, diagnostics: readonly string[]): void {
    this.#last = { at: Date.now(), ok, diagnostics };
    const result = ok ? "ok" : "failed";
    this.reports.counters.count("authserver_config_reloads_total", { result });
    const [reason] = diagnostics;
    this.reports.audit({
      event: "reload",
      decision: ok ? "granted" : "refused",
      reason,
    });
  }
}
