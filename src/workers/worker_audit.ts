import { type AuditRecord, formatAuditLine } from "../logging/audit_record.ts";

/**
 * Hands audit lines to the supervisor. Those of one turn of the event loop travel together, ahead of the answers to the
 * requests that they are about.
 */
export class WorkerAudit {
  readonly #post: (lines: readonly string[]) => void;
  #batch: string[] = [];

  constructor(post: (lines: readonly string[]) => void) {
    this.#post = post;
  }

  readonly record = (record: AuditRecord): void => {
    this.#batch.push(formatAuditLine(Date.now(), record));
    if (this.#batch.length === 1) setImmediate(() => this.flush());
  };

  flush(): void {
    if (this.#batch.length > 0) this.#post(this.#batch);
    this.#batch = [];
  }
}
