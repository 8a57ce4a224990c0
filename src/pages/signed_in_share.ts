import type { HttpResponse } from "../model/http_message.ts";
import type { ServiceError } from "../model/service_error.ts";
import { emptyResponse } from "../resource/text_response.ts";
import { toSignIn } from "./sign_in_page.ts";
import type { Asked } from "./visit.ts";

/** A share and a path in it, in the address of the REST interface or of the page for those who are signed in. */
const SHARED = /\/(?:rest\/access|shared)\/([^/?#]+\/[0-9A-Za-z]+(?:\/[^?#]*)?)/;

/** Path of the page on which somebody who is signed in sees the share, relative to the root. */
function pageOf({ request, query }: Asked): string | undefined {
  const [, share] = SHARED.exec(request.path) ?? [];
  const asked = query.toString();
  return share === undefined ? undefined : `shared/${share}${asked && `?${asked}`}`;
}

/**
 * Leads a browser that has come by a link, to what is shared with somebody by name or group, to where people are who are
 * signed in. Only whom a person follows there: programs are asked for credentials.
 */
export function toSignedInShare(failure: ServiceError, asked: Asked): HttpResponse | undefined {
  const { request, root } = asked;
  const page = pageOf(asked);
  const isVisit = request.method === "GET" && request.headers.get("Sec-Fetch-Mode") === "navigate";
  if (failure.code !== "ERR_UNAUTHENTICATED" || !isVisit || page === undefined) return undefined;
  if (request.headers.has("Authorization")) return undefined;
  return emptyResponse({ status: 303, headers: { Location: `${root}${page}` } });
}

/** Has somebody sign in who wants to see a share. */
export function signInForShare(failure: ServiceError, asked: Asked): HttpResponse | undefined {
  return toSignIn(failure, asked, pageOf(asked) ?? "");
}
