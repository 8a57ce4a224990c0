import type { Logger } from "../logging/logger.ts";

/** Logs and counts unhandled rejections, which are defects, instead of ending the process. */
export function surviveRejections(log: Logger, counted: () => void): void {
  globalThis.addEventListener("unhandledrejection", (event) => {
    event.preventDefault();
    log.error("rejection that nobody handled", { error: event.reason });
    counted();
  });
}
