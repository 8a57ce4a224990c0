import { createLogger, type Level, type Logger } from "../logging/logger.ts";

/** How long `info` and `debug` lines may wait for company, in milliseconds. */
const BATCH_MS = 50;
const BATCH_LINES = 500;

/** The log of a worker. */
export interface WorkerLog {
  readonly log: Logger;
  /** Sends what still waits for company; a worker that ends does so last. */
  flush(): void;
}

/**
 * A logger whose lines the supervisor writes, so that a worker needs no right to write files. Lines travel in batches;
 * a warning or error takes everything before it along at once.
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
