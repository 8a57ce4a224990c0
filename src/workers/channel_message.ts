import type { HttpRequest, WholeBody } from "../model/http_message.ts";
import type { Peer } from "../model/peer.ts";

/** What an end of the channel says about one request, which both ends know by its number. */
export type ChannelMessage =
  /** Edge to core: a request. A streamed body follows in chunks. */
  | Omit<HttpRequest, "headers" | "body"> & {
    readonly kind: "request";
    readonly id: number;
    /** Names and values in turn. */
    readonly fields: string[];
    readonly body: WholeBody;
    readonly streamed: boolean;
  }
  /** Core to edge: its answer. */
  | {
    readonly kind: "response";
    readonly id: number;
    readonly status: number;
    readonly fields: string[];
    readonly body: WholeBody | string;
    readonly streamed: boolean;
  }
  /** A part of a streamed body; only sent against credit. */
  | { readonly kind: "chunk"; readonly id: number; readonly bytes: Uint8Array }
  /** The streamed body is complete. */
  | { readonly kind: "end"; readonly id: number }
  /** The streamed body broke off; what was sent of it is worthless. */
  | { readonly kind: "broken"; readonly id: number }
  /** The reader of a streamed body takes so many more chunks. */
  | { readonly kind: "credit"; readonly id: number; readonly chunks: number }
  /** The reader of a streamed body wants no more of it. */
  | { readonly kind: "cancel"; readonly id: number }
  /** Edge to core: the client is gone, the answer is of no use. */
  | { readonly kind: "gone"; readonly id: number };

type Request = ChannelMessage & { readonly kind: "request" };
type Response = ChannelMessage & { readonly kind: "response" };

/**
 * A message as it crosses. Requests and answers, of which there are many, go as lists: the platform's way to copy an object
 * writes and reads the names of its members each time, which takes half as long again for a request.
 */
export type PackedMessage =
  | Exclude<ChannelMessage, Request | Response>
  | readonly [
    kind: "request",
    id: number,
    method: string,
    path: string,
    query: string,
    client: Peer,
    fields: string[],
    body: WholeBody,
    streamed: boolean,
  ]
  | readonly [
    kind: "response",
    id: number,
    status: number,
    fields: string[],
    body: WholeBody | string,
    streamed: boolean,
  ];

/** {@link unpack} undoes it. */
export function pack(message: ChannelMessage): PackedMessage {
  if (message.kind === "request") {
    const { kind, id, method, path, query, client, fields, body, streamed } = message;
    return [kind, id, method, path, query, client, fields, body, streamed];
  }
  if (message.kind === "response") {
    const { kind, id, status, fields, body, streamed } = message;
    return [kind, id, status, fields, body, streamed];
  }
  return message;
}

/** The message that was packed. */
export function unpack(packed: PackedMessage): ChannelMessage {
  if ("kind" in packed) return packed;
  if (packed[0] === "request") {
    const [kind, id, method, path, query, client, fields, body, streamed] = packed;
    return { kind, id, method, path, query, client, fields, body, streamed };
  }
  const [kind, id, status, fields, body, streamed] = packed;
  return { kind, id, status, fields, body, streamed };
}
