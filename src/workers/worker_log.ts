import { createLogger, type Level, type Logger } from "../logging/logger.ts";

/** Longest delay of `info` and `debug` lines, in milliseconds. */
const BATCH_MS = 50;
const BATCH_LINES = 500;

/** Log of a worker. */
export interface WorkerLog {
  readonly log: Logger;
  /** Sends pending lines; the last act of a worker. */
  flush(): void;
}

/**
 * Returns a logger that sends batches to the supervisor, so that workers need no right to write files; warnings and
 * errors go at once.
 */
export function workerLog(
  post: (text: string) => void,
  threshold: Level | (() => Level),
): WorkerLog {
  let batch: string[] = [];
  let timer: ReturnType<typeof setTimeout> | undefined;
  const flush = () => {
    clearTimeout(timer);
    timer = undefined;
    if (batch.length > 0) post(`${batch.join("\n")}\n`);
    batch = [];
  };
  const log = createLogger((line, level) => {
    batch.push(line);
    if (level === "warn" || level === "error" || batch.length >= BATCH_LINES) flush();
    else timer ??= setTimeout(flush, BATCH_MS);
  }, { threshold });
  return { log, flush };
}
