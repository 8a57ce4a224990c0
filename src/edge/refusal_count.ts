import { Counters, type Increments } from "../metrics/counters.ts";
import { methodLabel } from "../metrics/series.ts";

/** Counts the answers that the edge gives by itself, among all requests of the service. */
export class RefusalCount {
  readonly #counters = new Counters();

  /** @param method Empty if it could not be read. */
  add(method: string, status: number): void {
    const labels = { route: "none", method: methodLabel(method), code: String(status) };
    this.#counters.count("authserver_requests_total", labels);
  }

  take(): Increments {
    return this.#counters.take();
  }
}
