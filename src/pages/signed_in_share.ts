import type { HttpResponse } from "../model/http_message.ts";
import type { HttpError } from "../model/http_error.ts";
import { toSignIn } from "./sign_in_page.ts";
import type { Asked } from "./visit.ts";

/** The page of a share for those who are signed in, and a path in it, without what stands before in the address. */
const PAGE = /\/(shared\/[^/?#]+\/[0-9A-Za-z-]+(?:\/[^?#]*)?)/;

/** Has somebody sign in who wants to see what is shared with them, and leads back to that. */
export function signInForShare(failure: HttpError, asked: Asked): HttpResponse | undefined {
  const [, page = ""] = PAGE.exec(asked.request.path) ?? [];
  const query = asked.query.toString();
  return toSignIn(failure, asked, `${page}${query && `?${query}`}`);
}
