import type { Answer, EdgeResponse } from "../edge/message.ts";
import { EXPOSITION_TYPE } from "../metrics/exposition.ts";

/**
 * Answers `GET /metrics`, and nothing else. What scrapers send is judged here, in a room that may do nothing but listen.
 * @param text The page as it is now.
 */
export function metricsAnswer(text: () => Promise<string>): Answer {
  return async ({ method, target }) => {
    if (target.split("?")[0] !== "/metrics") return plain(404, "There is nothing here, see /metrics\n");
    if (method !== "GET" && method !== "HEAD") return plain(405, "Expected GET\n", ["Allow", "GET, HEAD"]);
    return plain(200, await text(), ["Cache-Control", "no-store"], EXPOSITION_TYPE);
  };
}

function plain(
  status: number,
  body: string,
  headers: readonly string[] = [],
  type = "text/plain; charset=utf-8",
): EdgeResponse {
  return { status, headers: ["Content-Type", type, ...headers], body };
}
