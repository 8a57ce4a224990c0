import { decodeBase64 } from "../model/base64.ts";
import { isAccountName, isUserAccount } from "../model/account_name.ts";
import { canonicalAddress, mappedTwin } from "../model/address.ts";
import { Secret } from "../model/secret.ts";
import { httpError } from "../model/http_error.ts";
import type { SessionRequest } from "./daemon_group.ts";
import { isRelativePattern, patternsOf } from "../model/wildcards.ts";

/*
 * The only module that encodes daemon commands. The protocol has no escaping: it sends lines `key=value` up to a line
 * `END`; the last of equal keys wins; a lone CR ends a line; the daemon cuts a line after 8192 characters and reads the
 * rest as a further line (daemon-protocol.md 1.4). So the encoder checks every value against its row below, and rejects
 * values that do not fit instead of changing them.
 */

const MAX_LINE = 4096; // characters with key: half of the daemon's line length

interface Row<T> {
  readonly key: string;
  readonly field?: string; // name for callers. Default: the key
  /** Returns the text; an empty or absent default is omitted. */
  readonly text: (command: T) => string | undefined;
  readonly allows: (text: string, command: T) => boolean; // further rule besides `isPlainText`
  readonly expected: string;
}

const FLAG = { allows: (text: string) => text === "true" || text === "false", expected: "true or false" };

type SessionRow = Row<{ readonly request: SessionRequest; readonly secret: Secret }>;

const SESSION_ROWS: readonly SessionRow[] = [
  {
    key: "client-ip",
    field: "clientAddresses",
    text: ({ request }) => clientAddresses(request.clientAddresses),
    allows: (text) => text !== "",
    expected: "at least one IP address, and no host names, zones or ranges",
  },
  {
    key: "user",
    text: ({ request }) => request.user,
    allows: isUserAccount,
    expected: "the name of an unprivileged account",
  },
  {
    key: "secret",
    text: ({ secret }) => secret.reveal(),
    allows: (text) => /^[A-Za-z0-9]{22,64}$/.test(text),
    expected: "22 to 64 letters and digits",
  },
  { key: "persistent", text: ({ request }) => String(request.persistent), ...FLAG },
  {
    key: "file",
    text: ({ request }) => request.file,
    // Without the slash the daemon uses the parent directory.
    allows: (text) => text === "" || text.endsWith("/"),
    expected: "a directory path that ends in /, without control characters, at most 4000 characters",
  },
  {
    key: "streams",
    text: ({ request }) => String(request.streams),
    allows: (text) => isCount(text) && text !== "0",
    expected: "a whole number from 1",
  },
  { key: "compress", text: ({ request }) => String(request.compress), ...FLAG },
  {
    key: "group",
    text: ({ request }) => request.group,
    allows: (text) => text.split(":").every(isAccountName),
    expected: "the name of a group, or of several with colons between",
  },
  {
    key: "rateLimit",
    text: ({ request }) => request.rateLimit === 0 ? undefined : String(request.rateLimit),
    allows: isCount,
    expected: "a whole number of bytes per second, or 0 for no limit",
  },
  {
    key: "key",
    field: "encryption",
    text: ({ request }) => request.encryption?.key.reveal(),
    allows: (text, { request }) => isKey(text, request.encryption?.algorithm),
    expected: "a base64 key of 32, 40 or 48 bytes for AES, of 4 to 56 bytes for BLOWFISH",
  },
  {
    key: "algo",
    field: "encryption",
    text: ({ request }) => request.encryption?.algorithm,
    allows: (text) => text === "AES" || text === "BLOWFISH",
    expected: "AES or BLOWFISH",
  },
  ...(["includes", "excludes"] as const).map((key): SessionRow => ({
    key,
    text: ({ request }) => request[key] || undefined,
    allows: (text, { request }) => patternsLieInside(text, request.file),
    expected: "patterns inside the directory of the session, separated by colons",
  })),
  {
    key: "access-permissions",
    field: "permission",
    text: ({ request }) => request.permission,
    // The daemon reads any other word as FULL.
    allows: (text) => /^(?:NONE|INFO|READ|WRITE|FULL)$/.test(text),
    expected: "NONE, INFO, READ, WRITE or FULL",
  },
];

const USER_INFO_ROWS: readonly Row<string>[] = [{
  key: "user",
  text: (user) => user,
  allows: isUserAccount,
  expected: "the name of an unprivileged account",
}];

/** Encodes a request for version and session limit. */
export function encodePing(): string {
  return encode("uftp-ping-request", [], undefined);
}

/** Encodes a request for an account's home and keys. @throws {ERR_INVALID_VALUE} */
export function encodeUserInfo(user: string): string {
  return encode("uftp-get-user-info-request", USER_INFO_ROWS, user);
}

/** Encodes a session request. @throws {ERR_INVALID_VALUE} */
export function encodeSession(request: SessionRequest, secret: Secret): string {
  return encode("uftp-transfer-request", SESSION_ROWS, { request, secret });
}

function encode<T>(type: string, rows: readonly Row<T>[], command: T): string {
  let request = `request-type=${type}\n`;
  for (const { key, field = key, text, allows, expected } of rows) {
    const value = text(command);
    if (value === undefined) continue;
    const line = `${key}=${value}`;
    if (line.length > MAX_LINE || !isPlainText(value) || !allows(value, command)) {
      throw httpError("ERR_INVALID_VALUE", { field, expected });
    }
    request += `${line}\n`;
  }
  return `${request}END\n`;
}

/** Reports whether a value arrives unchanged: valid UTF-8 without characters that end a line or are stripped. */
function isPlainText(text: string): boolean {
  // deno-lint-ignore no-control-regex
  return text.isWellFormed() && !/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/.test(text) &&
    text === text.trim();
}

/** Formats addresses, with mapped forms of IPv4 for dual-stack sockets; empty if one is invalid. */
function clientAddresses(addresses: readonly string[]): string {
  const known = new Set<string>();
  for (const address of addresses) {
    const canonical = canonicalAddress(address);
    if (canonical === undefined) return "";
    known.add(canonical);
    const twin = mappedTwin(canonical);
    if (twin !== undefined) known.add(twin);
  }
  return [...known].join(",");
}

function isCount(text: string): boolean {
  return /^(?:0|[1-9]\d{0,15})$/.test(text) && Number.isSafeInteger(Number(text));
}

/** Reports whether a text is canonical base64 of a key; AES keys follow a 16-byte IV. */
function isKey(text: string, algorithm: "AES" | "BLOWFISH" | undefined): boolean {
  const key = decodeBase64(text);
  if (key === undefined) return false;
  return algorithm === "AES" ? [32, 40, 48].includes(key.length) : key.length >= 4 && key.length <= 56;
}

/**
 * Reports whether all patterns lie below the base directory: otherwise the daemon drops the session at its first
 * command, and an empty list means no restriction (daemon-protocol.md 4). Without a base, and for absolute patterns
 * with a relative one, the home is unknown: they pass.
 */
export function patternsLieInside(patterns: string, base: string): boolean {
  const list = patternsOf(patterns);
  if (list.length === 0) return false;
  if (base === "") return true;
  const root = normalise(base, []);
  return list.every((pattern) => {
    if (!isRelativePattern(pattern) && !base.startsWith("/")) return true;
    const full = pattern.startsWith("/") ? normalise(pattern, []) : normalise(pattern, root);
    // The daemon compares texts, not segments: `/data/a*` is valid below `/data/a/`.
    return full !== undefined && root !== undefined && full.join("/").startsWith(root.join("/"));
  });
}

/** Resolves `.` and `..`; `undefined` above the start. */
function normalise(path: string, from: readonly string[] | undefined): readonly string[] | undefined {
  const segments = [...from ?? []];
  for (const segment of path.split("/")) {
    if (segment === "" || segment === ".") continue;
    if (segment !== "..") segments.push(segment);
    else if (segments.pop() === undefined && !path.startsWith("/")) return undefined;
  }
  return segments;
}

const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
const LENGTH = 24; // 62 ** 24 > 2 ** 142
const FAIR = 256 - 256 % ALPHABET.length; // larger bytes would bias the choice

/** Creates a one-time secret of letters and digits, safe in FTP commands and command lines. */
export function createSecret(): Secret {
  let text = "";
  while (text.length < LENGTH) {
    for (const byte of crypto.getRandomValues(new Uint8Array(LENGTH))) {
      if (byte < FAIR && text.length < LENGTH) text += ALPHABET.charAt(byte % ALPHABET.length);
    }
  }
  return new Secret(text);
}
