import type { HttpResponse } from "../model/http_message.ts";
import type { Call } from "./call.ts";
import { emptyResponse } from "./text_response.ts";

/** Serves `GET /login`: challenges callers without credentials and redirects others to the status page (RFC 9110, 15.4.4). */
export function challengeBrowser({ caller }: Call, unauthenticated: (reason: string) => Error): HttpResponse {
  if (caller.kind === "anonymous") throw unauthenticated("somebody is to sign in");
  return emptyResponse({ status: 303, headers: { Location: "./" } });
}
