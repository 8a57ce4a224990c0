import { Secret } from "../model/secret.ts";
import { type HttpError, httpError } from "../model/http_error.ts";
import type { HttpResponse } from "../model/http_message.ts";
import { linkCookie, tryLinkPassword } from "../resource/access/link_password.ts";
import { checkUser } from "../resource/access/opened_share.ts";
import type { Call, PartialCall } from "../resource/call.ts";
import { readForm } from "../resource/form.ts";
import { sharedServer } from "../resource/share/shared_server.ts";
import type { SharingParts } from "../resource/share/sharing_parts.ts";
import { redirect } from "../resource/text_response.ts";
import { isDirectory, isShareId } from "../sharing/share.ts";
import { markup } from "./markup.ts";
import { message } from "./messages.ts";
import { pageResponse } from "./page.ts";
import { TEXTS } from "./texts.ts";

const SAYS = TEXTS.linkPassword;

/** Address of a share, or of its password form. */
const SHARE = /\/(rest\/access|shared|link|drop)\/([^/?#]+)\/([0-9A-Za-z-]+)/;

const SIGNED_IN = "signed-in"; // query of the form that leads to the signed-in page

/** Returns the password form in place of the error for a missing or wrong link password. */
export function linkPasswordPage(failure: HttpError, call: PartialCall): HttpResponse | undefined {
  const { request, query, root } = call;
  const [, where, server, id] = SHARE.exec(request.path) ?? [];
  const tried = where === "link";
  const signedIn = where === "shared" || query.has(SIGNED_IN);
  if (server === undefined || (failure.code !== "ERR_LINK_PASSWORD" && !tried)) return undefined;
  if (failure.code === "ERR_UNAUTHENTICATED") return redirect(`${root}shared/${server}/${id}`); // for the sign-in
  const isWrong = failure.code === "ERR_LINK_PASSWORD";
  const page = pageResponse(call, {
    title: SAYS.title,
    body: markup`<form method="post" action="${root}link/${server}/${id}${signedIn && `?${SIGNED_IN}`}">
${
      tried &&
      markup`<p id="diagnostic" class="down" role="alert">${
        isWrong ? SAYS.wrong : message(failure.publicMessage)
      }</p>`
    }
<p><label for="password">${SAYS.password}</label>
<input id="password" name="password" type="password" required maxlength="200" autocomplete="off"${
      tried && markup` autofocus aria-describedby="diagnostic"`
    }></p>
<p><button>${SAYS.open}</button></p>
</form>
<p class="quiet">${SAYS.help}</p>`,
    needs: { forms: true },
  });
  // A 401 challenge would open the browser's own dialog, which asks for a user name too.
  return { ...page, status: isWrong ? 403 : failure.status };
}

/** Serves `POST /link/<server>/<id>`: checks a link password for those who may use the share, and redirects to it. */
export async function openLinkByForm(call: Call, parts: SharingParts): Promise<HttpResponse> {
  const { name } = sharedServer(call, parts);
  const id = call.params.get("id") ?? "";
  const share = isShareId(id) ? await parts.store.get(name, id) : undefined;
  if (share === undefined) throw httpError("ERR_SHARE_NOT_FOUND");
  checkUser(call, share, "NONE", parts);
  const password = (await readForm(call)).get("password") ?? "";
  await tryLinkPassword(call, share, new Secret(password), parts);
  const page = call.query.has(SIGNED_IN) ? "shared" : "rest/access";
  return redirect(`${call.root}${page}/${encodeURIComponent(name)}/${id}${isDirectory(share) ? "/" : ""}`, {
    "Set-Cookie": linkCookie(call, share, parts),
  });
}
