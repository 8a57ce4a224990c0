import type { DaemonSession } from "../../daemon/session/daemon_session.ts";
import type { Entry } from "../../daemon/session/entry.ts";
import { nothingThere } from "../../daemon/session/session_errors.ts";
import { type DatedEntry, makeDirectories } from "../../files/files.ts";
import { absolutePath, nameOf, parentOf, withoutSlash } from "../../model/absolute_path.ts";
import { httpError, invalidRequest, isHttpError } from "../../model/http_error.ts";
import type { HttpResponse } from "../../model/http_message.ts";
import { formFiles } from "../../resource/access/drop/form_files.ts";
import type { Call } from "../../resource/call.ts";
import { type DavParts, davPlace, rootStays, untilBan } from "../../resource/dav/dav_call.ts";
import { isBelow } from "../../resource/dav/dav_locks.ts";
import {
  checkShownToken,
  FORM_TOKEN,
  FORM_TOKEN_HEADER,
  ownBrowser,
  readOwnForm,
} from "../../resource/form.ts";
import { uploadOwn } from "../../resource/own_upload.ts";
import { redirect } from "../../resource/text_response.ts";
import { trailLinks } from "../about_share.ts";
import { section, tokenForm } from "../elements.ts";
import { type Content, isolated, type Markup, markup } from "../markup.ts";
import { pageResponse } from "../page.ts";
import { size } from "../quantities.ts";
import { TEXTS } from "../texts.ts";
import { formPage } from "../upload_page.ts";
import { hrefOf, type OwnPlace, trailOf } from "./own_place.ts";

const SAYS = TEXTS.files;

/** Most entries of a directory that a page can delete: it first reads all of them, to show their number and size. */
const MAX_DELETED = 10_000;

interface Contents {
  readonly files: number;
  readonly directories: number;
  readonly bytes: number;
  readonly version: string; // changes with the content
}

/** Returns the form that creates a directory. */
export function newDirectoryForm(call: Call, href: string): Markup {
  return ownForm(
    call,
    href,
    markup`<label for="directory-name">${SAYS.directoryName}</label>
<input id="directory-name" name="name" required maxlength="255" autocomplete="off" spellcheck="false">
<button name="do" value="make">${SAYS.newDirectory}</button>`,
  );
}

/** Returns the page on which a file or directory is renamed, moved, shared or deleted. */
export async function actionsPage(
  call: Call,
  { server, path, href }: OwnPlace,
  { session, entry }: { readonly session: DaemonSession; readonly entry: DatedEntry },
): Promise<HttpResponse> {
  const name = nameOf(path) || server;
  const contents = await contentsOf(session, path, entry);
  session.close();
  const shares = call.menu.has("/shares") && call.server?.facts?.sharing === true;
  return pageResponse(call, {
    title: SAYS.actionsOf.with({ name }),
    heading: SAYS.actionsOf.with({ name: isolated(name) }),
    current: "files",
    body: [
      trailLinks(trailOf(call, server, parentOf(path)), { last: false }),
      shares &&
      markup`<p><a class="button" href="${call.root}shares/${encodeURIComponent(server)}/new?${
        new URLSearchParams({ path }).toString()
      }">${SAYS.share}</a></p>
`,
      section(
        "move",
        SAYS.moveTitle,
        ownForm(
          call,
          href,
          markup`<p><label for="to">${SAYS.newPath}</label>
<input id="to" name="to" class="long" value="${
            withoutSlash(path)
          }" required maxlength="4000" spellcheck="false" autocapitalize="none" aria-describedby="to-help"></p>
<p id="to-help" class="quiet">${SAYS.newPathHelp}</p>
<p><button name="do" value="move">${SAYS.move}</button></p>`,
        ),
      ),
      markup`<details class="danger"><summary>${SAYS.deleteTitle}</summary>
${deletion(call, { path, href }, { entry, contents })}</details>
`,
    ],
  });
}

function deletion(
  call: Call,
  { path, href }: Pick<OwnPlace, "path" | "href">,
  { entry, contents }: { readonly entry: Entry; readonly contents: Contents | undefined },
): Content {
  if (contents === undefined) return markup`<p>${SAYS.tooMany.with({ count: MAX_DELETED })}</p>`;
  const { files, directories, bytes, version } = contents;
  const isDirectory = entry.kind === "directory";
  const named = { path: isolated(path), name: nameOf(path), size: size(bytes) };
  const counts = {
    files: TEXTS.shares.files.with({ count: files }),
    directories: SAYS.directories.with({ count: directories }),
  };
  return [
    markup`<p>${
      isDirectory ? SAYS.deletesDirectory.with({ ...named, ...counts }) : SAYS.deletesFile.with(named)
    }</p>
`,
    ownForm(
      call,
      href,
      markup`<input type="hidden" name="version" value="${version}">
<p><button class="danger" name="do" value="delete">${
        (isDirectory ? SAYS.deleteDirectory : SAYS.deleteFile).with(named)
      }</button></p>`,
    ),
  ];
}

/** Returns the extent of a deletion; undefined for more than {@link MAX_DELETED} entries. */
async function contentsOf(
  session: DaemonSession,
  path: string,
  { kind, size, modified }: Entry,
): Promise<Contents | undefined> {
  if (kind !== "directory") return { files: 1, directories: 0, bytes: size, version: `${size} ${modified}` };
  let [files, directories, bytes, latest] = [0, 0, 0, ""];
  const waiting = [`${withoutSlash(path)}/`.replace("//", "/")];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const directory = next;
    const listing = await session.list(directory, ({ name, kind, size, modified = "" }) => {
      if (kind === "directory") {
        directories++;
        if (files + directories <= MAX_DELETED) waiting.push(`${directory}${name}/`);
      } else {
        files++;
        bytes += size;
      }
      if (modified > latest) latest = modified;
    }).catch((error) => {
      if (!isHttpError(error, "ERR_NOT_FOUND")) throw error;
      return { complete: true }; // a link to nothing, or a directory that cannot be read
    });
    if (!listing.complete || files + directories > MAX_DELETED) return undefined;
  }
  return { files, directories, bytes, version: [files, directories, bytes, latest].join(" ") };
}

/** Serves `POST /files/<server>/<path>`: creates a directory, moves or deletes. @throws {ERR_LOCKED | ERR_EXISTS | ERR_PAGE_OUTDATED | ERR_CONTENT_CHANGED} */
export function changeOwnFile(call: Call, parts: DavParts): Promise<HttpResponse> {
  return untilBan(call, parts, async (call) => {
    const form = await readOwnForm(call);
    const { files, target: { path }, user } = await davPlace(call, parts);
    const { signal } = call;
    const to = (directory: string) => redirect(hrefOf(call, user.server, directory));
    const task = form.get("do");
    if ((await parts.locks.at(user, path, { below: task !== "make" })).length > 0) {
      throw httpError("ERR_LOCKED");
    }
    if (task === "make") {
      const name = form.get("name") ?? "";
      const directory = `${path === "/" ? "" : path}/${name}`;
      const isName = name !== "" && !name.includes("/") && absolutePath(directory) === directory;
      if (!isName) throw invalidRequest("The name of a directory can be neither . nor .., and has no /");
      await files.makeDirectory(directory, signal);
      return to(`${directory}/`);
    }
    if (path === "/") throw rootStays();
    if (task === "move") {
      const wanted = withoutSlash(absolutePath(form.get("to") ?? ""));
      const check = async (existing?: DatedEntry) => {
        if ((await parts.locks.at(user, wanted, { below: true })).length > 0) throw httpError("ERR_LOCKED");
        if (existing !== undefined) throw httpError("ERR_EXISTS");
      };
      await files.move(path, wanted, { ...parts.uploads.locks.prepare(user.server, wanted, signal), check });
      await parts.locks.forget(user, path);
      return to(parentOf(wanted));
    }
    if (task !== "delete") throw invalidRequest("do: expected make, move or delete");
    {
      using session = await files.open(path, signal);
      const contents = await contentsOf(session, path, await session.entry(path));
      if (contents?.version !== form.get("version")) throw httpError("ERR_CONTENT_CHANGED");
    }
    await files.remove(path, signal);
    return to(parentOf(path));
  });
}

/** Serves `PUT /files/<server>/<path>`: writes a file for a signed-in browser. @throws {ERR_UNAUTHENTICATED | ERR_PAGE_OUTDATED} And as {@link uploadOwn}. */
export function uploadOwnByPage(call: Call, parts: DavParts): Promise<HttpResponse> {
  return untilBan(call, parts, async (call) => {
    checkShownToken(call.request.headers.get(FORM_TOKEN_HEADER), ownBrowser(call).formToken);
    const { files, target: { path, wantsDirectory }, user } = await davPlace(call, parts);
    if (wantsDirectory) throw invalidRequest("Name the file to be written");
    return await uploadOwn(call, { files, path, user }, parts);
  });
}

/** Serves `POST /files-upload/<server>/<path>`: stores the files of a form in a directory; `replace` in the query replaces. */
export function uploadOwnByForm(call: Call, parts: DavParts): Promise<HttpResponse> {
  return untilBan(call, parts, async (call) => {
    const { formToken } = ownBrowser(call);
    const { headers, body } = call.request;
    const { files, target: { path }, user } = await davPlace(call, parts);
    const names = async function* () {
      for await (const file of formFiles(headers, body)) {
        checkShownToken(file.fields.get(FORM_TOKEN), formToken);
        const wanted = absolutePath(`${path === "/" ? "" : path}/${file.name}`);
        if (!isBelow(wanted, path) || wanted.endsWith("/")) throw invalidRequest("Name the file");
        const check = async (existing?: DatedEntry) => {
          if (existing !== undefined && !call.query.has("replace")) throw httpError("ERR_EXISTS");
          if ((await parts.locks.at(user, wanted)).length > 0) throw httpError("ERR_LOCKED");
        };
        await check();
        const { signal, lock } = parts.uploads.locks.prepare(user.server, wanted, call.signal);
        {
          using session = await files.open(wanted, signal);
          if (!files.reaches(wanted)) throw nothingThere("outside of what the caller may reach");
          await makeDirectories(session, parentOf(wanted));
        }
        await files.write(wanted, file.body, { signal, lock, check });
        yield file.name;
      }
    };
    const back = hrefOf(call, user.server, `${withoutSlash(path)}/`.replace("//", "/"));
    return await formPage(call, names(), back);
  });
}

function ownForm(call: Call, href: string, fields: Content): Markup {
  return tokenForm(href, ownBrowser(call).formToken, fields);
}
