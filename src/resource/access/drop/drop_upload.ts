import { addressGroup } from "../../../model/address.ts";
import { HeaderList, type HttpResponse } from "../../../model/http_message.ts";
import { invalidRequest } from "../../../model/http_error.ts";
import { withinAll } from "../../../files/path_limits.ts";
import { EVERYBODY, isDirectory, type Share } from "../../../sharing/share.ts";
import type { Call } from "../../call.ts";
import { checkShownToken, FORM_TOKEN } from "../../form.ts";
import { withoutSlash } from "../../../model/absolute_path.ts";
import { nameOnServer } from "../../share/names.ts";
import { notPermitted } from "../../share/shared_server.ts";
import type { SharingParts } from "../../share/sharing_parts.ts";
import { openShareSession } from "../share_session.ts";
import { type OpenedShare, openedShare } from "../opened_share.ts";
import { factsOf, useShare } from "../use_of_share.ts";
import { droppedName } from "./dropped_name.ts";
import { formFiles } from "./form_files.ts";
import { answerUpload, storeFile, uploadId, type UploadPlace } from "./recorded_upload.ts";
import { parseUploadRange } from "./upload_range.ts";

/**
 * Serves `PUT /rest/access/<server>/<id>/<name>` for `DROP` shares, and with `upload` in the query for writable shares.
 * Missing directories are created. With `upload`, a key chosen by the client, the file can arrive in pieces (`Content-Range`)
 * and resume.
 * @throws {ERR_INVALID_REQUEST} And as {@link storeFile}.
 */
export async function dropUpload(
  call: Call,
  opened: OpenedShare,
  parts: SharingParts,
): Promise<HttpResponse> {
  const { share, path } = opened;
  const name = droppedName(path.slice(share.path.length));
  const key = uploadKey(call);
  const { headers, body } = call.request;
  const range = parseUploadRange(headers);
  if (key === undefined && range.kind !== "whole") {
    throw invalidRequest("Content-Range: expected with upload=<key>");
  }
  const naming = share.access === "DROP" ? "free" : { conditions: headers };
  return await answerUpload(call, placeOf(call, opened, parts), { name, key, range, body, naming }, parts);
}

/** Returns the directory of a share; each file is a use of the share. */
function placeOf(call: Call, opened: OpenedShare, parts: SharingParts): UploadPlace {
  const { share, share: { server, id }, limits } = opened;
  const name = nameOnServer(call, server);
  const key = name === EVERYBODY ? addressGroup(call.clientAddress) : name;
  return {
    ...{ ...share, signal: call.signal, client: uploadId({ server, share: id, key }).key },
    reaches: (path) => withinAll(limits, path),
    open: (signal) => openShareSession(call, opened, { path: share.path, permission: "WRITE" }, signal),
    audit: (path) => call.audit(factsOf(call, share, "HTTP-upload", path)),
    use: (path, begins) => useShare(call, share, { kind: "HTTP-upload", path, ...begins }, parts),
  };
}

/**
 * Stores the files of a form one after the other; an error ends this but keeps the earlier files. The current terms of the
 * share apply to each file. Signed-in browsers send the form token before the first file.
 * @yields Final names. @throws {ERR_NOT_PERMITTED | ERR_PAGE_OUTDATED} And as {@link storeFile}.
 */
export async function* dropForm(call: Call, parts: SharingParts): AsyncGenerator<string, void> {
  const { headers, body } = call.request;
  let opened = await openedForForm(call, parts);
  const naming = call.query.has("replace") ? { conditions: new HeaderList() } : "free";
  for await (const file of formFiles(headers, body)) {
    if (call.signIn) checkShownToken(file.fields.get(FORM_TOKEN), call.signIn.formToken);
    opened = await openedForForm(call, parts, opened);
    const below = `${withoutSlash(opened.path)}/`.slice(opened.share.path.length);
    const name = droppedName(`${below}${file.name}`);
    const range = { kind: "whole", length: undefined, most: file.left } as const;
    const place = placeOf(call, opened, parts);
    const result = await storeFile(call, place, { name, range, body: file.body, naming }, parts);
    if ("name" in result) yield result.name;
  }
}

/** Returns the share to which a form uploads files; only access `MODIFY` permits `replace` in the query. */
async function openedForForm(call: Call, parts: SharingParts, before?: OpenedShare): Promise<OpenedShare> {
  const wanted = ({ access }: Share) => access === "DROP" ? "DROP" : "WRITE";
  const opened = await openedShare(call, wanted, parts, before);
  const { share } = opened;
  const replaces = call.query.has("replace");
  if (replaces && share.access !== "MODIFY") throw notPermitted("This share does not permit replacing files");
  if (!isDirectory(share)) throw invalidRequest("Files can only be uploaded into a directory");
  return opened;
}

/** Returns the key that a client chose for an upload. @throws {ERR_INVALID_REQUEST} */
export function uploadKey({ query }: Call): string | undefined {
  const key = query.get("upload");
  if (key === null) return undefined;
  if (!/^[0-9A-Za-z]{20,32}$/.test(key)) {
    throw invalidRequest("upload: expected 20 to 32 letters and digits, chosen at random");
  }
  return key;
}
