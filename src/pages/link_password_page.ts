import { Secret } from "../model/secret.ts";
import { type HttpError, httpError } from "../model/http_error.ts";
import type { HttpResponse } from "../model/http_message.ts";
import { linkCookie, tryLinkPassword } from "../resource/access/link_password.ts";
import type { Call } from "../resource/call.ts";
import { readForm } from "../resource/form.ts";
import { sharedServer } from "../resource/share/shared_server.ts";
import type { SharingParts } from "../resource/share/sharing_parts.ts";
import { emptyResponse } from "../resource/text_response.ts";
import { isDirectory, isShareId } from "../sharing/share.ts";
import { markup } from "./markup.ts";
import { pageResponse } from "./page.ts";
import { TEXTS } from "./texts.ts";

const SAYS = TEXTS.linkPassword;

/** The way to a share in an address, or to the form of its password. */
const SHARE = /\/(rest\/access|shared|link)\/([^/?#]+)\/([0-9A-Za-z-]+)/;

/** In the query of that form: it leads on to the page for those who are signed in. */
const SIGNED_IN = "signed-in";

/** Asks for the password of a link, in place of the failure that it is not there, or wrong. */
export function linkPasswordPage(
  failure: HttpError,
  { request, query, root }: Pick<Call, "request" | "query" | "root">,
): HttpResponse | undefined {
  const [, where, server, id] = SHARE.exec(request.path) ?? [];
  const tried = where === "link";
  const signedIn = where === "shared" || query.has(SIGNED_IN);
  if (server === undefined || (failure.code !== "ERR_LINK_PASSWORD" && !tried)) return undefined;
  const isWrong = failure.code === "ERR_LINK_PASSWORD";
  const page = pageResponse({
    title: SAYS.title,
    body: markup`<form method="post" action="${root}link/${server}/${id}${signedIn && `?${SIGNED_IN}`}">
${tried && markup`<p class="down" role="alert">${isWrong ? SAYS.wrong : failure.publicMessage}</p>`}
<p><label for="password">${SAYS.password}</label>
<input id="password" name="password" type="password" required maxlength="200" autocomplete="off"></p>
<p><button>${SAYS.open}</button></p>
</form>
<p class="quiet">${SAYS.help}</p>`,
    footer: markup`<p><a href="${root}help">${TEXTS.help.link}</a></p>`,
    needs: { forms: true },
  });
  // Not 401: the challenge that belongs to it makes browsers ask in a window of their own, for a user name too.
  return { ...page, status: isWrong ? 403 : failure.status };
}

/** `POST /link/<server>/<id>`: takes the password of a link from its form, and leads on to what is shared. */
export async function openLinkByForm(call: Call, parts: SharingParts): Promise<HttpResponse> {
  const { name } = sharedServer(call, parts);
  const id = call.params.get("id") ?? "";
  const share = isShareId(id) ? await parts.store.get(name, id) : undefined;
  if (share === undefined) throw httpError("ERR_SHARE_NOT_FOUND");
  const password = (await readForm(call)).get("password") ?? "";
  await tryLinkPassword(call, share, new Secret(password), parts);
  const page = call.query.has(SIGNED_IN) ? "shared" : "rest/access";
  return emptyResponse({
    status: 303,
    headers: {
      "Location": `${call.root}${page}/${encodeURIComponent(name)}/${id}${isDirectory(share) ? "/" : ""}`,
      "Set-Cookie": linkCookie(call, share, parts),
    },
  });
}
