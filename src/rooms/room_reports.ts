import { AuditFile } from "../logging/audit_file.ts";
import { type AuditRecord, formatAuditLine } from "../logging/audit_record.ts";
import type { LogFile } from "../logging/log_file.ts";
import { createLogger, type Level, type Logger } from "../logging/logger.ts";
import { Counters } from "../metrics/counters.ts";
import type { FromRoom } from "./room_message.ts";

/** What rooms report: log lines, audit lines, counts and how late their timers are. The files are written here. */
export class RoomReports {
  readonly log: Logger;
  /** Sums over all rooms since the start of the process. */
  readonly counters = new Counters();
  /** Longest delay of a timer, by room, as last reported; milliseconds. */
  readonly lagMs = new Map<string, number>();
  readonly #logFile: LogFile;
  readonly #auditFile: AuditFile;

  /** @param options.auditPath Absent: audit lines go to the console. */
  constructor(
    logFile: LogFile,
    { level, auditPath }: { readonly level: Level; readonly auditPath: string | undefined },
  ) {
    this.log = createLogger(logFile.write, { threshold: level });
    this.#logFile = logFile;
    this.#auditFile = new AuditFile(auditPath, {
      log: this.log,
      console: (line) => logFile.console(line, "info"),
    });
  }

  /** @param room `edge` or `core`. */
  hear(message: FromRoom, room: string): void {
    switch (message.kind) {
      case "log":
        this.#logFile.writeAll(message.lines);
        break;
      case "audit":
        this.#auditFile.write(message.lines);
        break;
      case "measured":
        this.counters.addAll(message.counts);
        this.lagMs.set(room, message.lagMs);
        break;
    }
  }

  /** An act of the operator, or of the supervisor itself. */
  audit(record: AuditRecord): void {
    this.#auditFile.write([formatAuditLine(Date.now(), record)]);
  }

  /** Writes what could not be written before. */
  retry(): void {
    this.#auditFile.retry();
  }

  close(): void {
    this.#auditFile.close();
    this.#logFile.close();
  }
}
