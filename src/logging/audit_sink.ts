/** Where audit lines go. Lines that cannot be written at once are kept for later, in their order. */
export interface AuditSink {
  /** @param lines Finished, without line ends. */
  write(lines: readonly string[]): void;
  /** Writes what is kept, if it can be written now. */
  retry(): void;
  /** Writes what can be written, and ends. @returns What could not be. */
  close(): Promise<readonly string[]>;
}

/** The console: what cannot be written there is nowhere. */
export class AuditConsole implements AuditSink {
  constructor(readonly console: (line: string) => void) {}

  write(lines: readonly string[]): void {
    lines.forEach(this.console);
  }

  retry(): void {}

  close(): Promise<readonly string[]> {
    return Promise.resolve([]);
  }
}
