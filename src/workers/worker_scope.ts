import type { FromWorker, Report } from "./worker_message.ts";
import { createLogger, type Level, type Logger } from "../logging/logger.ts";
import { type AuditRecord, formatAuditLine } from "../logging/audit_record.ts";
import process from "node:process";
import type { Increments } from "../metrics/counters.ts";
import { garbageCollector, IDLE_MS } from "./collect_garbage.ts";
import { coalescedTimeout, type Schedule, type Stopwatch, stopwatch } from "../model/clock.ts";

/** Used part of a worker's global scope; Deno's worker library would clash with the main one. */
interface WorkerScope<In> {
  onmessage: ((event: MessageEvent<In>) => void) | null;
  postMessage(message: FromWorker): void;
}

declare const self: WorkerScope<never>;

/** Receives messages of the supervisor; call it once, while the worker's module loads. */
export function receive<In>(handle: (message: In) => void): void {
  self.onmessage = ({ data }: MessageEvent<In>) => handle(data);
}

/** Sends a message to the supervisor. */
export function post(message: FromWorker): void {
  self.postMessage(message);
}

/** Logs and counts unhandled rejections, which are defects, instead of ending the process. */
export function surviveRejections(log: Logger, counted: () => void): void {
  globalThis.addEventListener("unhandledrejection", (event) => {
    event.preventDefault();
    log.error("unhandled rejection", { error: event.reason });
    counted();
  });
}

const BATCH_MS = 50; // longest delay of `info` and `debug` lines, in milliseconds
const BATCH_LINES = 200; // lines of a larger batch live through collections of young garbage, which copy them

export interface WorkerLog {
  readonly log: Logger;
  flush(): void; // sends pending lines; the last act of a worker
}

/** Returns a logger that sends batches to the supervisor, which writes the file; it sends warnings and errors at once. */
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

/** Sends audit lines to the supervisor, batched per event loop turn and ahead of the responses they concern. */
export class WorkerAudit {
  #batch: string[] = [];

  constructor(readonly post: (lines: readonly string[]) => void) {}

  readonly record = (record: AuditRecord): void => {
    this.#batch.push(formatAuditLine(Date.now(), record));
    if (this.#batch.length === 1) setImmediate(() => this.flush());
  };

  flush(): void {
    if (this.#batch.length > 0) this.post(this.#batch);
    this.#batch = [];
  }
}

const REPORT_MS = 1000;
const SAMPLE_MS = 250; // interval of clock readings in milliseconds: the error of a measured stall
const IDLE_SAMPLE_MS = 2000; // interval of clock readings of an idle worker, in milliseconds
/** Resolution of a thread's processor time in milliseconds. Reading it is not cheap. */
const TICK_MS = 10;
const IDLE_WORK_MS = 50; // processor time of an idle worker between two reports, on a slow machine
const QUIET_SAMPLES = 3; // clock readings after which even an idle worker reports

/** Reports counts, event loop delays and survived defects of a worker once a second, less often while it is idle. */
export class Measurements {
  #delaysMs: number[] = [];
  #ownDelayMs = 0;
  #rejections = 0;
  #pauseMs = SAMPLE_MS;

  constructor(
    readonly take: () => Increments,
    readonly post: (report: Report) => void,
    { elapsed = stopwatch, worked = threadMs, schedule = coalescedTimeout, collect = garbageCollector() }: {
      readonly elapsed?: Stopwatch;
      readonly worked?: Stopwatch;
      readonly schedule?: Schedule;
      readonly collect?: () => void; // called each time the worker was idle for a while
    } = {},
  ) {
    let [sampledAt, reportedAt, busyAt, workedBefore] = [elapsed(), elapsed(), elapsed(), worked()];
    const sample = () => {
      const now = elapsed();
      const delay = Math.max(0, Math.round((now - sampledAt - this.#pauseMs) * 10) / 10);
      const isDue = now - reportedAt > REPORT_MS - SAMPLE_MS / 2;
      this.#delaysMs.push(delay);
      sampledAt = now;
      if (delay >= TICK_MS || (isDue && this.#isToReport)) {
        const workedNow = worked();
        this.#ownDelayMs = Math.max(this.#ownDelayMs, Math.min(delay, workedNow - workedBefore));
        workedBefore = workedNow;
      }
      if (isDue) {
        reportedAt = now;
        this.report();
        if (this.#pauseMs === SAMPLE_MS || worked() - workedBefore >= IDLE_WORK_MS) busyAt = now;
        else if (now - busyAt >= IDLE_MS) {
          busyAt = now;
          collect();
        }
      }
      schedule(this.#pauseMs, sample);
    };
    schedule(SAMPLE_MS, sample);
  }

  /** Whether the next report is sent even if the worker is idle. */
  get #isToReport(): boolean {
    return this.#pauseMs === SAMPLE_MS || this.#delaysMs.length >= QUIET_SAMPLES;
  }

  rejected(): void {
    this.#rejections++;
  }

  /** Sends the report, unless an idle worker reported lately; also called at the end of the worker. */
  report(): void {
    const counts = this.take();
    const isQuiet = counts.length + this.#rejections === 0 && Math.max(...this.#delaysMs) < TICK_MS;
    this.#pauseMs = isQuiet ? IDLE_SAMPLE_MS : SAMPLE_MS;
    if (isQuiet && this.#delaysMs.length < QUIET_SAMPLES) return;
    this.post({
      counts,
      delaysMs: this.#delaysMs,
      ownDelayMs: this.#ownDelayMs,
      rejections: this.#rejections,
    });
    this.#delaysMs = [];
    this.#ownDelayMs = 0;
    this.#rejections = 0;
  }
}

/** Returns the thread's processor time in milliseconds. */
function threadMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}
