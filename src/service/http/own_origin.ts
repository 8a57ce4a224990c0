import type { HeaderList } from "../../model/http_message.ts";
import { httpError } from "../../model/http_error.ts";

/**
 * Checks that a browser's request comes from a page of this service, by `Sec-Fetch-Site` (Fetch Metadata), else by `Origin`
 * (RFC 6454, 7; Fetch standard, 3.1); requests with neither are not from browsers.
 * @param base Base of links for the caller, if known; `Host` has the name that the caller used. @throws {ERR_FOREIGN_PAGE}
 */
export function checkOwnOrigin(headers: HeaderList, base: string): void {
  const site = headers.get("Sec-Fetch-Site");
  if (site === "same-origin") return;
  if (site !== null) throw httpError("ERR_FOREIGN_PAGE", "Sec-Fetch-Site is not same-origin");
  const origin = headers.get("Origin");
  const { origin: own, protocol } = new URL(base);
  if (origin !== null && (origin === own || origin === `${protocol}//${headers.get("Host")}`)) return;
  throw httpError(
    "ERR_FOREIGN_PAGE",
    origin === null ? "neither Sec-Fetch-Site nor Origin" : "another Origin",
  );
}
