import type { AuditConfig } from "../config/service_config.ts";
import { AuditFile } from "../logging/audit_file.ts";
import { AuditConsole, type AuditSink } from "../logging/audit_sink.ts";
import type { Logger } from "../logging/logger.ts";

/** Audit lines go where the configuration says. */
export function openAudit(
  config: AuditConfig,
  { log, console }: { readonly log: Logger; readonly console: (line: string) => void },
): AuditSink {
  return config.file === undefined ? new AuditConsole(console) : new AuditFile(config.file, log);
}
