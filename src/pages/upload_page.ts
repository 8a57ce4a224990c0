import type { SignIn } from "../authentication/sign_in/sign_ins.ts";
import { HttpError } from "../model/http_error.ts";
import type { HttpResponse } from "../model/http_message.ts";
import { dropForm } from "../resource/access/drop/drop_upload.ts";
import type { UploadView } from "../resource/access/listing.ts";
import { upload } from "../resource/access/upload.ts";
import type { Call } from "../resource/call.ts";
import { checkShownToken, FORM_TOKEN_HEADER, ownBrowser } from "../resource/form.ts";
import { refusal } from "../resource/share/shared_server.ts";
import type { SharingParts } from "../resource/share/sharing_parts.ts";
import { noteOf } from "./elements.ts";
import { isolated, markup } from "./markup.ts";
import { message } from "./messages.ts";
import { pageResponse } from "./page.ts";
import { aboutShare } from "./about_share.ts";
import { size } from "./quantities.ts";
import { TEXTS } from "./texts.ts";
import { UPLOAD_NEEDS, uploadFields } from "./upload_fields.ts";

const SAYS = TEXTS.upload;

/** Returns the page of an upload share; shows no existing files. */
export function uploadPage(call: Call, view: UploadView): HttpResponse {
  const { share, command, quota, now } = view;
  return pageResponse(call, {
    title: SAYS.title.with({ name: share.name }),
    heading: markup`${SAYS.heading} ${isolated(share.name)}`,
    about: aboutShare(share, now),
    body: markup`${noteOf(share.note)}
${quota?.files !== undefined && markup`<p>${SAYS.filesLeft.with({ count: quota.files })}</p>`}
${quota?.bytes !== undefined && markup`<p>${SAYS.bytesLeft.with({ bytes: size(quota.bytes) })}</p>`}
${uploadFields(view)}
<p>${SAYS.muchData}</p>
<pre><code>${command}</code></pre>`,
    footer: markup`<p>${SAYS.promise}</p>`,
    needs: UPLOAD_NEEDS,
  }, { headers: { "Cache-Control": "private, no-store" } });
}

/** Serves `PUT /shared/<server>/<id>/<name>`: stores a file for a signed-in browser. @throws {ERR_UNAUTHENTICATED | ERR_PAGE_OUTDATED} */
export async function uploadByPage(call: Call, parts: SharingParts): Promise<HttpResponse> {
  checkShownToken(call.request.headers.get(FORM_TOKEN_HEADER), browserOf(call, parts).formToken);
  return await upload(call, parts);
}

/** Serves `POST /shared/<server>/<id>`: as {@link uploadByForm}, for a signed-in browser. @throws As {@link uploadByPage}. */
export async function uploadByOwnForm(call: Call, parts: SharingParts): Promise<HttpResponse> {
  browserOf(call, parts);
  return await uploadByForm(call, parts);
}

/** Returns the browser's sign-in. Asks for a new one if it has expired. */
function browserOf(call: Call, parts: SharingParts): SignIn {
  if (call.caller.kind === "anonymous") throw refusal(call.caller, "Nobody is signed in", parts);
  return ownBrowser(call);
}

/** Serves `POST /drop/<server>/<id>`: stores files of the form that browsers without script send. */
export async function uploadByForm(call: Call, parts: SharingParts): Promise<HttpResponse> {
  const { server, id, rest } = Object.fromEntries(call.params);
  const page = call.signIn === undefined ? "rest/access" : "shared";
  const below = rest === undefined ? "" : `/${rest}`;
  const back = `${call.root}${page}/${encodeURIComponent(server ?? "")}/${id}${below}`;
  return await formPage(call, dropForm(call, parts), back);
}

/** Answers an upload form, whose files are stored as `sent` yields their names. @param back Address of the page with the form. @throws Errors of the first file. */
export async function formPage(call: Call, sent: AsyncIterable<string>, back: string): Promise<HttpResponse> {
  const names: string[] = [];
  let [status, reason] = [201, ""];
  try {
    for await (const name of sent) names.push(name);
  } catch (error) {
    if (!(error instanceof HttpError) || names.length === 0) throw error;
    call.log.info("form ended early", { error });
    [status, reason] = [error.status, error.publicMessage];
  }
  return pageResponse(call, {
    title: names.length === 0 ? SAYS.nothing : SAYS.uploaded.with({ count: names.length }),
    body: markup`<ul>${names.map((name) => markup`<li>${isolated(name)}</li>`)}</ul>
${reason && markup`<p class="down" role="alert">${SAYS.othersFailed.with({ reason: message(reason) })}</p>`}
<p><a href="${back}">${SAYS.more}</a></p>`,
  }, { status: names.length === 0 ? 400 : status, headers: { "Cache-Control": "private, no-store" } });
}
