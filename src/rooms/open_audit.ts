import type { AuditConfig } from "../config/service_config.ts";
import { AuditFile } from "../logging/audit_file.ts";
import { AuditJournal } from "../logging/audit_journal.ts";
import { AuditConsole, type AuditSink } from "../logging/audit_sink.ts";
import type { Logger } from "../logging/logger.ts";

/** Audit lines go where the configuration says. */
export function openAudit(
  config: AuditConfig,
  { log, console }: { readonly log: Logger; readonly console: (line: string) => void },
): AuditSink {
  switch (config.to) {
    case "file":
      return new AuditFile(config.path, log);
    case "console":
      return new AuditConsole(console);
    case "journal":
      return new AuditJournal(log);
  }
}
