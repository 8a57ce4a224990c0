import type { HttpError } from "../../model/http_error.ts";
import { IMAGE_TYPES } from "../../resource/access/file_view.ts";
import { MOST_ENTRIES } from "../../resource/access/listing_part.ts";
import { sharedUftpSession } from "../../resource/access/uftp_session.ts";
import { upload } from "../../resource/access/upload.ts";
import { createShare } from "../../resource/share/create_share.ts";
import { deleteShare } from "../../resource/share/shared_server.ts";
import { listSharedServers, listShares, MOST_SHARES, readShare } from "../../resource/share/list_shares.ts";
import type { SharingParts } from "../../resource/share/sharing_parts.ts";
import { updateShare } from "../../resource/share/update_share.ts";
import type { ServiceConfig } from "../../config/service_config.ts";
import type { Asked, Call } from "../../resource/call.ts";
import { jsonAnswer, OF_SESSIONS, type Operation } from "./openapi/operation.ts";
import { text } from "./openapi/schema.ts";
import { downloadWithPages, linkPasswordPage, signInForShare } from "./page_routes.ts";
import { JSON_TYPE, type PublishedRoute } from "./router.ts";

const SHARE = "/rest/share/:server/:id";
const SHARED = "/rest/access/:server/:id";

/** Returns the routes of data sharing; omits disabled features. @param signIn Whether browsers can sign in. */
export function shareRoutes(
  parts: SharingParts,
  features: ServiceConfig["features"],
  signIn: boolean,
): PublishedRoute[] {
  return [
    ...(features.share ? ownersRoutes(parts) : []),
    ...(features.access ? usersRoutes(parts, signIn) : []),
  ];
}

const OWNERS = { service: "share", produces: JSON_TYPE } as const;
const CHANGE = { ...OWNERS, consumes: "application/json", audit: "share" } as const;

/** Shares of the caller (rest-api.md 1.12). */
function ownersRoutes(parts: SharingParts): PublishedRoute[] {
  return [
    {
      ...OWNERS,
      method: "GET",
      path: "/rest/share",
      doc: {
        id: "listSharedServers",
        summary: "The servers with sharing",
        answers: { 200: jsonAnswer("The servers", "SharedServers") },
      },
      answer: (call) => listSharedServers(call, parts),
    },
    {
      ...OWNERS,
      method: "GET",
      path: "/rest/share/:server",
      doc: {
        id: "listShares",
        summary: "What the caller shares, and what is shared with the caller",
        details: `An answer has up to ${MOST_SHARES} shares; next leads to those behind them.`,
        query: { after: text("From the link to the next part") },
        answers: { 200: jsonAnswer("The shares", "ShareList") },
        refusals: [404],
      },
      answer: (call) => listShares(call, parts),
    },
    {
      ...CHANGE,
      method: "POST",
      path: "/rest/share/:server",
      doc: {
        id: "createShare",
        summary: "Share a file or directory, or change or end that",
        details:
          "A share of the same path for the same user gets the new terms; with access NONE it is removed.",
        body: "ShareRequest",
        answers: {
          200: { description: "Removed" },
          201: { description: "Shared", headers: { Location: "Address of the share" } },
        },
        refusals: [...OF_SESSIONS, 409],
      },
      answer: (call) => createShare(call, parts),
    },
    ...ownShareRoutes(parts),
  ];
}

function ownShareRoutes(parts: SharingParts): PublishedRoute[] {
  return [
    {
      ...OWNERS,
      method: "GET",
      path: SHARE,
      doc: {
        id: "showShare",
        summary: "One of the caller's shares, and who used it",
        answers: { 200: jsonAnswer("The share", "Share") },
        refusals: [404],
      },
      answer: (call) => readShare(call, parts),
    },
    {
      ...CHANGE,
      method: "PUT",
      path: SHARE,
      doc: {
        id: "updateShare",
        summary: "Change path, lifetime, note or password of a share",
        body: "ShareChange",
        answers: {
          200: jsonAnswer("What became of each member", "ShareChanged"),
        },
        refusals: [...OF_SESSIONS, 409],
      },
      answer: (call) => updateShare(call, parts),
    },
    {
      ...OWNERS,
      method: "DELETE",
      path: SHARE,
      audit: "share",
      doc: {
        id: "deleteShare",
        summary: "End a share",
        answers: { 200: { description: "There is no such share, now or from the start" } },
        refusals: [404],
      },
      answer: (call) => deleteShare(call, parts),
    },
  ];
}

/** Access to shared files (rest-api.md 1.13). */
function usersRoutes(parts: SharingParts, signIn: boolean): PublishedRoute[] {
  const common = {
    service: "access",
    audit: "share",
    linkPassword: true,
    failed: async (failure: HttpError, asked: Asked) =>
      await linkPasswordPage(failure, asked) ?? (signIn ? await signInForShare(failure, asked) : undefined),
  } as const;
  const downloads = {
    ...common,
    method: "GET",
    answer: (call: Call) => downloadWithPages(call, parts),
  } as const;
  const sessions = {
    ...common,
    method: "POST",
    consumes: "application/json",
    produces: JSON_TYPE,
    answer: (call: Call) => sharedUftpSession(call, parts),
  } as const;
  const uploads = { ...common, method: "PUT", answer: (call: Call) => upload(call, parts) } as const;
  return [
    { ...downloads, path: SHARED, doc: DOWNLOAD },
    {
      ...downloads,
      path: `${SHARED}/*rest`,
      doc: { ...DOWNLOAD, id: "downloadBelow", summary: "Get a file of a shared directory" },
    },
    { ...uploads, path: SHARED, doc: UPLOAD },
    {
      ...uploads,
      path: `${SHARED}/*rest`,
      doc: { ...UPLOAD, id: "uploadBelow", summary: "Put a file into a shared directory" },
    },
    { ...sessions, path: "/rest/access/:server", doc: SESSION },
    {
      ...sessions,
      path: SHARED,
      doc: {
        ...SESSION,
        id: "openSessionOfShare",
        summary: "Get a transfer session for the files of one share",
      },
    },
  ];
}

const FILE = { "application/octet-stream": "bytes" } as const;
const IMAGE = Object.fromEntries(Array.from(IMAGE_TYPES.values(), (type) => [type, "bytes"] as const));

const DOWNLOAD: Operation = {
  id: "download",
  summary: "Get a shared file, or the listing of a shared directory",
  details:
    `A listing has up to ${MOST_ENTRIES} entries; next, also in the header Link, leads to those behind them, by the query parameter after. Parameters sort (name, size, modified), desc and find put it in order and search in it; view=preview shows a picture or the beginning of a text, view=zip is a directory with all below as one archive.`,
  answers: {
    200: {
      description: "The file; a directory's listing as a page, or as JSON if that is asked for",
      content: { ...FILE, ...IMAGE, "application/zip": "bytes", "application/json": "Listing" },
    },
    206: {
      description: "Part of the file",
      content: { ...FILE, ...IMAGE },
      headers: { "Content-Range": "Which part" },
    },
    304: { description: "Not modified", headers: { ETag: "Of the file" } },
    412: { description: "A precondition failed" },
    416: { description: "The file has no such part", headers: { "Content-Range": "Its length" } },
  },
  refusals: OF_SESSIONS,
};

const SESSION: Operation = {
  id: "openSharedSession",
  summary: "Get a transfer session for shared files",
  details:
    "Of several owners who share the path with the caller, one whose home directory it is in comes first, then the earliest; the request may name the owner or the share.",
  body: "SharedSessionRequest",
  answers: { 200: jsonAnswer("The session", "SessionGrant") },
  refusals: OF_SESSIONS,
};

const UPLOAD: Operation = {
  id: "upload",
  summary: "Put a shared file",
  body: "bytes",
  details:
    "The conditions If-Match, If-None-Match and If-Unmodified-Since are obeyed. With access DROP nothing is replaced, and the header Upload-Name has the name that the file got, percent-encoded. With the query parameter upload, a key of the client's choice, a file can come in pieces by Content-Range, and has its name once it is whole.",
  answers: {
    200: { description: "All of it is written, in place of what was there" },
    201: { description: "All of it is written, and there was no such file before" },
    202: { description: "A piece of it is written", headers: { "Upload-Offset": "Bytes that are there" } },
  },
  refusals: [...OF_SESSIONS, 409, 411, 412, 429, 507],
};
