import { type DavParts, davResource, davServers } from "../../resource/dav/dav.ts";
import { OF_SESSIONS, type Operation } from "./openapi/operation.ts";
import { DAV_METHODS, type PublishedRoute } from "./router.ts";

/** Role user; sign-ins of browsers do not count, so that no other site can send anything. */
const COMMON = { service: "auth", permission: "POST", heedsCapabilities: true, audit: "session" } as const;

const MULTISTATUS = { description: "The properties", content: { "application/xml": "text" } } as const;
const EMPTY = { 201: { description: "Made" }, 204: { description: "Done" } } as const;
const CHANGES = [...OF_SESSIONS, 405, 409, 412, 423];

/** By method: what it does, its answers, and errors beyond those of sessions. */
const OPERATIONS: Readonly<Record<string, Omit<Operation, "id">>> = {
  PROPFIND: {
    summary: "Properties of a file, or of a directory and its entries",
    answers: { 207: MULTISTATUS },
  },
  PROPPATCH: {
    summary: "Refuses changes of properties",
    answers: { 207: MULTISTATUS },
    refusals: [412, 423],
  },
  MKCOL: { summary: "Make a directory", answers: EMPTY, refusals: [...CHANGES, 415] },
  GET: {
    summary: "Get a file of the caller's",
    answers: {
      200: { description: "The file", content: { "application/octet-stream": "bytes" } },
      206: { description: "Part of the file", content: { "application/octet-stream": "bytes" } },
      304: { description: "Not modified" },
    },
    refusals: [...OF_SESSIONS, 405, 412, 416],
  },
  PUT: {
    summary: "Write a file of the caller's",
    body: "bytes",
    answers: EMPTY,
    refusals: [...CHANGES, 507],
  },
  DELETE: { summary: "Delete a file, or a directory with all below", answers: EMPTY, refusals: CHANGES },
  COPY: { summary: "Copy within the server", answers: EMPTY, refusals: [...CHANGES, 507] },
  MOVE: { summary: "Move within the server", answers: EMPTY, refusals: CHANGES },
  LOCK: {
    summary: "Lock a file or directory, or extend a lock",
    answers: { 200: MULTISTATUS, 201: MULTISTATUS },
    refusals: [...CHANGES, 507],
  },
  UNLOCK: { summary: "End a lock", answers: EMPTY, refusals: CHANGES },
};

/** Returns the routes of WebDAV: the servers, and the caller's files on each. */
export function davRoutes(parts: DavParts): PublishedRoute[] {
  const methods = [...DAV_METHODS, "GET", "PUT", "DELETE"] as const;
  const at = (path: string, id: string) =>
    methods.map((method): PublishedRoute => ({
      ...COMMON,
      method,
      path,
      doc: {
        refusals: OF_SESSIONS,
        ...operation(method),
        id: `${id}${method[0]}${method.slice(1).toLowerCase()}`,
      },
      answer: (call) => davResource(call, parts),
    }));
  return [
    {
      ...COMMON,
      method: "PROPFIND",
      path: "/dav",
      doc: { ...operation("PROPFIND"), id: "davServers", summary: "Servers with files of the caller's" },
      answer: (call) => davServers(call, parts),
    },
    ...at("/dav/:server", "davServer"),
    ...at("/dav/:server/*rest", "dav"),
  ];
}

function operation(method: string): Omit<Operation, "id"> {
  return OPERATIONS[method] ?? { summary: method, answers: EMPTY };
}
