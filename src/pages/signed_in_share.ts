import type { HttpResponse } from "../model/http_message.ts";
import type { HttpError } from "../model/http_error.ts";
import { toSignIn } from "./sign_in_page.ts";
import type { Asked } from "./visit.ts";

/** Page of a share for signed-in browsers, with a path in it. */
const PAGE = /\/(shared\/[^/?#]+\/[0-9A-Za-z-]+(?:\/[^?#]*)?)/;

/** Redirects an anonymous browser to the sign-in, which leads back to the share. */
export function signInForShare(failure: HttpError, asked: Asked): HttpResponse | undefined {
  const [, page = ""] = PAGE.exec(asked.request.path) ?? [];
  const query = asked.query.toString();
  return toSignIn(failure, asked, `${page}${query && `?${query}`}`);
}
