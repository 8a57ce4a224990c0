import { FAMILIES, type Family } from "./families.ts";
import { type Sample, seriesText } from "./counters.ts";
import { HeaderList, type HttpRequest, type HttpResponse } from "../model/http_message.ts";

const EXPOSITION_TYPE = "text/plain; version=0.0.4; charset=utf-8";

/** Formats samples for Prometheus (text format 0.0.4). */
export function exposition(samples: Iterable<Sample>): string {
  const families = Map.groupBy(samples, ({ family }) => String(family));
  return Object.entries<Family>(FAMILIES).map(([name, { help, type }]) => {
    const found = families.get(name);
    if (found === undefined) return "";
    const lines = found.map((sample) => `${seriesText(sample)} ${sample.value}\n`).join("");
    return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${lines}`;
  }).join("");
}

/** Answers `GET /metrics` in the edge with the supervisor's page. Passes nothing of the scraper's request on. */
export class MetricsHandler {
  #pending: PromiseWithResolvers<string | undefined> | undefined;

  constructor(readonly request: () => void) {}

  /** Receives the page (Prometheus text format); `undefined` after a failure. */
  received(page: string | undefined): void {
    this.#pending?.resolve(page);
    this.#pending = undefined;
  }

  /** Answers a scraper. Concurrent ones share a page. */
  readonly answer = async ({ method, path }: Pick<HttpRequest, "method" | "path">): Promise<HttpResponse> => {
    if (path !== "/metrics") return plain(404, "There is nothing here, see /metrics\n");
    if (method !== "GET" && method !== "HEAD") return plain(405, "Expected GET\n", { Allow: "GET, HEAD" });
    const page = await this.#page();
    if (page === undefined) return plain(503, "The metrics cannot be read now\n", { "Retry-After": "5" });
    return plain(200, page, { "Cache-Control": "no-store" }, EXPOSITION_TYPE);
  };

  #page(): Promise<string | undefined> {
    if (this.#pending === undefined) {
      this.#pending = Promise.withResolvers();
      this.request();
    }
    return this.#pending.promise;
  }
}

function plain(
  status: number,
  body: string,
  headers: Readonly<Record<string, string>> = {},
  type = "text/plain; charset=utf-8",
): HttpResponse {
  return { status, headers: HeaderList.of({ "Content-Type": type, ...headers }), body };
}
