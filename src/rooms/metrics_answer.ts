import { EXPOSITION_TYPE } from "../metrics/exposition.ts";
import { HeaderList } from "../model/header_list.ts";
import type { Answer, HttpResponse } from "../model/http_message.ts";

/**
 * Answers `GET /metrics`, and nothing else. What scrapers send is judged here, in a room that may do nothing but listen.
 * @param text The page as it is now.
 */
export function metricsAnswer(text: () => Promise<string>): Answer {
  return async ({ method, path }) => {
    if (path !== "/metrics") return plain(404, "There is nothing here, see /metrics\n");
    if (method !== "GET" && method !== "HEAD") return plain(405, "Expected GET\n", { Allow: "GET, HEAD" });
    return plain(200, await text(), { "Cache-Control": "no-store" }, EXPOSITION_TYPE);
  };
}

function plain(
  status: number,
  body: string,
  headers: Readonly<Record<string, string>> = {},
  type = "text/plain; charset=utf-8",
): HttpResponse {
  return { status, headers: HeaderList.of({ "Content-Type": type, ...headers }), body };
}
