import type { Logger } from "../logging/logger.ts";

/**
 * Has a promise that is rejected while nobody handles it end nothing: what it was about has failed, and everybody else is
 * served as before. It is a defect of ours all the same.
 * @param counted Told of each.
 */
export function surviveRejections(log: Logger, counted: () => void): void {
  globalThis.addEventListener("unhandledrejection", (event) => {
    event.preventDefault();
    log.error("rejection that nobody handled", { error: event.reason });
    counted();
  });
}
