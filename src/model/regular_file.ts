import { onError } from "./attempt.ts";
import { Buffer, isUtf8 } from "node:buffer";
import { closeSync, constants, fstatSync, openSync, readSync, type Stats } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { type Diagnostic, InvalidFile, readableAt } from "./diagnostic.ts";
import { messageOf } from "./text.ts";

const MAX_BYTES = 64 * 1024 ** 2;

/** Opens a regular file: no folder, and no pipe, socket or device, which could block. @throws As `Deno.open`; TypeError. */
export async function openRegularFile(path: string, { follow = true } = {}): Promise<FileHandle> {
  const flags = constants.O_RDONLY | constants.O_NONBLOCK | (follow ? 0 : constants.O_NOFOLLOW);
  const file = await open(path, flags).catch((error) => {
    throw asDenoError(error);
  });
  try {
    refuseSpecial(await file.stat(), path);
    return file;
  } catch (error) {
    await file.close();
    throw error;
  }
}

/** Reads a regular file of at most `maxBytes` (default: 64 MiB). @throws {InvalidFile} If it is longer. */
export async function readRegularFile(path: string, maxBytes = MAX_BYTES): Promise<Uint8Array<ArrayBuffer>> {
  await using file = await openRegularFile(path);
  const { size } = await file.stat();
  if (size > maxBytes) throw tooLong(path, size, maxBytes);
  const bytes = new Uint8Array(size);
  let length = 0;
  while (length < size) {
    const { bytesRead } = await file.read(bytes, length, size - length, length);
    if (bytesRead === 0) break;
    length += bytesRead;
  }
  return bytes.subarray(0, length);
}

/** Like {@link readRegularFile}, for a short file that is read at once. */
export function readRegularFileSync(path: string, maxBytes: number): Uint8Array<ArrayBuffer> {
  let file: number;
  try {
    file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (error) {
    throw asDenoError(error);
  }
  try {
    refuseSpecial(fstatSync(file), path);
    const bytes = new Uint8Array(maxBytes + 1);
    let length = 0;
    for (let read = -1; read !== 0 && length < bytes.length; length += read) {
      read = readSync(file, bytes, length, bytes.length - length, length);
    }
    if (length > maxBytes) throw tooLong(path, length, maxBytes);
    return bytes.subarray(0, length);
  } finally {
    closeSync(file);
  }
}

function refuseSpecial(status: Stats, path: string): void {
  if (status.isDirectory()) throw new Deno.errors.IsADirectory(`${path} is a folder`);
  if (!status.isFile()) throw new TypeError(`${path} is no regular file`);
}

function tooLong(path: string, size: number, maxBytes: number): InvalidFile {
  const expected = `expected at most ${maxBytes}`;
  const fix = `shorten ${path} to ${maxBytes} bytes`;
  return new InvalidFile([{ severity: "error", file: path, found: `${size} bytes`, expected, fix }]);
}

const UTF8 = new TextDecoder();
const LINE_FEED = 10;

const LATIN1_XML = /^(<\?xml\s[^>]{0,200}\bencoding\s{0,9}=\s{0,9}["'])iso-8859-1(?=["'])/i;

/** Byte-order mark of UTF-16, read as ISO-8859-1. */
export const UTF16_MARK = /^(?:ÿþ|þÿ)/;

/** Decodes UTF-8 (ten times faster than a fatal decoder) or XML in declared ISO-8859-1. @throws {InvalidFile} */
export function utf8Text(bytes: Uint8Array, file: string): string {
  if (isUtf8(bytes)) return UTF8.decode(bytes);
  const latin1 = Buffer.from(bytes).toString("latin1");
  const xml = latin1.replace(LATIN1_XML, "$1UTF-8");
  if (xml !== latin1) return xml;
  let line = 1;
  for (let from = 0;; line++) {
    const end = bytes.indexOf(LINE_FEED, from);
    if (end < 0 || !isUtf8(bytes.subarray(from, end))) break;
    from = end + 1;
  }
  const [from, found] = UTF16_MARK.test(latin1) ? ["UTF-16", ", found UTF-16"] : ["LATIN1", ""];
  const fix = `text=$(iconv -f ${from} -t UTF-8 ${file}) && printf '%s\\n' "$text" > ${file}`;
  throw new InvalidFile([{ severity: "error", file, line, expected: `expected UTF-8 text${found}`, fix }]);
}

/** Converts a Node.js error to that of `Deno.readFile`. */
function asDenoError(error: unknown): unknown {
  if (!(error instanceof Error) || !("code" in error)) return error;
  if (error.code === "ENOENT") return new Deno.errors.NotFound(error.message, { cause: error });
  if (error.code === "EACCES") return new Deno.errors.PermissionDenied(error.message, { cause: error });
  return error;
}

/** Returns the result of a file system call; `undefined` if the file is absent, or its folder is a file. */
export async function ifExists<T>(call: Promise<T>): Promise<T | undefined> {
  const absent = () => undefined;
  return await call.catch(onError(Deno.errors.NotFound, absent)).catch(
    onError(Deno.errors.NotADirectory, absent),
  );
}

/** Reports whether a path exists, also as a dangling link. */
export async function exists(path: string): Promise<boolean> {
  return await ifExists(Deno.lstat(path)) !== undefined;
}

/** Returns the diagnostics of a file's reader, or that it cannot be read. @param maxBytes As in `readRegularFile()`. */
export async function inspectFile(
  file: string,
  diagnosticsOf: (text: string, file: string) => readonly Diagnostic[] | Promise<readonly Diagnostic[]>,
  maxBytes?: number,
): Promise<readonly Diagnostic[]> {
  try {
    return await diagnosticsOf(utf8Text(await readRegularFile(file, maxBytes), file), file);
  } catch (error) {
    if (error instanceof InvalidFile) return error.diagnostics;
    const expected = `cannot be read: ${messageOf(error)}`;
    return [{ severity: "error", file, expected, fix: readableAt(file) }];
  }
}

/** Closes a connection that may be closed already. */
export function closeQuietly(connection: { close(): void } | undefined): void {
  try {
    connection?.close();
  } catch (error) {
    if (!(error instanceof Deno.errors.BadResource)) throw error; // already closed
  }
}

/** Writes all bytes, as a write may be partial. */
export async function writeAll(
  to: { write(bytes: Uint8Array): Promise<number> },
  bytes: Uint8Array,
): Promise<void> {
  for (let at = 0; at < bytes.length;) at += await to.write(bytes.subarray(at));
}
