/** Destination of audit lines, which queues lines it cannot write. */
export interface AuditSink {
  /** @param lines Without line ends. */
  write(lines: readonly string[]): void;
  retry(): void;
  /** Writes what it can and closes. Returns the rest. */
  close(): Promise<readonly string[]>;
}
