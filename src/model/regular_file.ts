import { isUtf8 } from "node:buffer";
import { closeSync, constants, fstatSync, openSync, readSync, type Stats } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { InvalidFile } from "./diagnostic.ts";

/** Default limit on files read whole. */
const MAX_BYTES = 64 * 1024 ** 2;

/**
 * Opens a regular file or folder, but no pipe, socket or device, which could block. Checks the open file, not the path.
 * @param options.follow Whether to follow a link. Default: true.
 * @throws {TypeError} If it is neither file nor folder; else as `Deno.open`.
 */
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
  const file = await openRegularFile(path);
  try {
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
  } finally {
    await file.close();
  }
}

/** Like {@link readRegularFile}, for a short file that is read at once; refuses folders, too. */
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
  const diagnostic = { file: path, found: `${size} bytes`, expected: `expected at most ${maxBytes}` };
  return new InvalidFile([{ severity: "error", ...diagnostic }]);
}

const UTF8 = new TextDecoder();
const LINE_FEED = 10;

/**
 * Decodes UTF-8 without byte-order mark; separate validation is ten times faster than a fatal decoder.
 * @param file For the message.
 * @throws {InvalidFile} With the first invalid line.
 */
export function utf8Text(bytes: Uint8Array, file: string): string {
  if (isUtf8(bytes)) return UTF8.decode(bytes);
  let line = 1;
  for (let from = 0;; line++) {
    const end = bytes.indexOf(LINE_FEED, from);
    if (end < 0 || !isUtf8(bytes.subarray(from, end))) break;
    from = end + 1;
  }
  throw new InvalidFile([{ severity: "error", file, line, expected: "expected UTF-8 text" }]);
}

/** Converts a Node.js error to that of `Deno.readFile`. */
function asDenoError(error: unknown): unknown {
  if (!(error instanceof Error) || !("code" in error)) return error;
  if (error.code === "ENOENT") return new Deno.errors.NotFound(error.message, { cause: error });
  if (error.code === "EACCES") return new Deno.errors.PermissionDenied(error.message, { cause: error });
  return error;
}
