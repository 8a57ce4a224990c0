import { Secret } from "../model/secret.ts";
import { invalidRequest } from "../model/http_error.ts";
import { membersOf, text, wholeNumber } from "./request_body.ts";

/** Request for a transfer session (rest-api.md 1.10). */
interface SessionRequest {
  /** As given, without the tag of older clients; the last character tells a file from a directory. */
  readonly serverPath: string;
  readonly file: string; // base directory, empty or ending in `/`
  readonly streamCount: number;
  readonly compress: boolean;
  readonly persistent: boolean;
  readonly encryption?: { readonly key: Secret; readonly algorithm: "AES" | "BLOWFISH" };
  readonly group?: string;
  readonly client?: readonly string[]; // unparsed client addresses; absent: the address of this request
  readonly send: boolean; // read (`true`) or write; only `/rest/access` uses it
}

/** Base names of sessions that older clients send for the parent directory. */
const SESSION_TAG = "___UFTP___MULTI___FILE___SESSION___MODE___";

/** Parses a session request. Numbers and flags may be text, for stock clients. @throws {ERR_INVALID_REQUEST} */
export function parseSessionRequest(body: unknown): SessionRequest {
  const member = membersOf(body);
  const serverPath = text("serverPath", member("serverPath"));
  if (serverPath === undefined) {
    throw invalidRequest("serverPath is missing: expected a path, empty for the home directory");
  }
  const group = text("group", member("group"));
  const client = text("client", member("client"));
  const encryption = parseEncryption(
    text("encryptionKey", member("encryptionKey")),
    text("encryptionAlgorithm", member("encryptionAlgorithm")),
  );
  flag("append", member("append"));
  const path = withoutTag(serverPath);
  return {
    serverPath: path,
    // The daemon reads only up to the last `/` (daemon-protocol.md 1.8).
    file: path === "" || path.endsWith("/") ? path : `${path}/`,
    streamCount: streamCount(wholeNumber("streamCount", member("streamCount")) ?? 1),
    compress: flag("compress", member("compress")) ?? false,
    persistent: flag("persistent", member("persistent")) ?? false,
    send: flag("send", member("send")) ?? true,
    encryption,
    group,
    ...(client !== undefined && client.trim() !== "" && { client: client.trim().split(/[\s,]+/) }),
  };
}

/** Some clients send a slash after the tag. */
function withoutTag(serverPath: string): string {
  if (serverPath === SESSION_TAG) return "";
  if (serverPath === `${SESSION_TAG}/`) return "./";
  if (serverPath.endsWith(`/${SESSION_TAG}/`)) return serverPath.slice(0, -SESSION_TAG.length - 1);
  return serverPath.endsWith(`/${SESSION_TAG}`) ? serverPath.slice(0, -SESSION_TAG.length) : serverPath;
}

function streamCount(count: number): number {
  if (count < 1 || count > 1024) throw invalidRequest("streamCount: expected a number from 1 to 1024");
  return count;
}

function parseEncryption(
  key: string | undefined,
  algorithm: string | undefined,
): SessionRequest["encryption"] {
  const name = algorithm?.toUpperCase();
  if (name !== undefined && name !== "AES" && name !== "BLOWFISH") {
    throw invalidRequest("encryptionAlgorithm: expected AES or BLOWFISH");
  }
  if (key === undefined) return undefined;
  if (!/^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(key) || key === "") {
    throw invalidRequest("encryptionKey: expected base64 text");
  }
  return { key: new Secret(key), algorithm: name ?? "BLOWFISH" };
}

function flag(name: string, value: unknown): boolean | undefined {
  if (value === undefined || typeof value === "boolean") return value;
  if (typeof value === "string") return value.toLowerCase() === "true";
  throw invalidRequest(`${name}: expected true or false`);
}
