import { type AuditRecord, formatAuditLine } from "../logging/audit_record.ts";

/** Sends audit lines to the supervisor, batched per event loop turn and ahead of the responses they concern. */
export class WorkerAudit {
  #batch: string[] = [];

  constructor(readonly post: (lines: readonly string[]) => void) {
  }

  readonly record = (record: AuditRecord): void => {
    this.#batch.push(formatAuditLine(Date.now(), record));
    if (this.#batch.length === 1) setImmediate(() => this.flush());
  };

  flush(): void {
    if (this.#batch.length > 0) this.post(this.#batch);
    this.#batch = [];
  }
}
