import { createHash } from "node:crypto";
import { closeSync, openSync, statSync, utimesSync } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import type { Command } from "./commands.ts";
import { ControlClosed } from "./control_channel.ts";
import type { DataConnection } from "./data_connection.ts";
import { FileInfo, INACCESSIBLE } from "./file_info.ts";
import { allowedPathOf, pathOf, required } from "./parameters.ts";
import { errorCode, PythonError, systemError, toInteger, withPaths } from "./python_text.ts";
import type { Session } from "./session.ts";
import { SessionError } from "./session_error.ts";

/** Bytes read or sent at a time. */
const BLOCK = 256 * 1024;

/** Commands that move file contents (daemon-protocol.md 5.8 to 5.10). */
export const TRANSFER_COMMANDS: Readonly<Record<string, Command>> = {
  RANG(session, parameters) {
    const [first = "", last = ""] = required(parameters, "split").split(" ");
    const [from, to] = [argument(first), argument(last)];
    if (from === 1 && to === 0) {
      session.resetRange();
      return session.reply("350 Resetting range");
    }
    session.offset = from;
    session.length = to - from;
    session.ranged = true;
    session.reply(`350 Restarting at ${from}. End byte range at ${to}`);
  },
  REST(session, parameters) {
    session.offset = argument(parameters ?? "");
    session.ranged = false;
    session.reply(`350 Restarting at ${session.offset}.`);
  },
  ALLO(session, parameters) {
    session.assertLevel("WRITE");
    if (!session.ranged) session.offset = 0;
    if (parameters === undefined) {
      throw new PythonError(
        "int() argument must be a string, a bytes-like object or a real number, not 'NoneType'",
      );
    }
    session.length = toInteger(parameters);
    session.reply(`200 OK Will read up to ${session.length} bytes from data connection.`);
  },
  async RETR(session, parameters) {
    session.assertLevel("READ");
    const path = allowedPathOf(session, parameters);
    const announced = announce(session, path);
    session.reply(`150 OK ${announced} bytes available for reading.`);
    await dropDataOnError(session, () => send(session, path));
  },
  async STOR(session, parameters) {
    session.assertLevel("WRITE");
    const path = allowedPathOf(session, parameters);
    if (session.length === -1) session.length = Number.MAX_SAFE_INTEGER;
    touch(path);
    session.reply("150 OK");
    await dropDataOnError(session, () => receive(session, path));
  },
  async APPE(session, parameters) {
    session.assertLevel("WRITE");
    const path = allowedPathOf(session, parameters);
    if (session.length === -1) {
      session.length = Number.MAX_SAFE_INTEGER;
      withPaths([path], () => statSync(path));
      throw new PythonError("tuple indices must be integers or slices, not str");
    }
    session.reply("150 OK");
    await dropDataOnError(session, () => receive(session, path));
  },
  async HASH(session, parameters) {
    session.assertLevel("READ");
    const path = pathOf(session, parameters);
    announce(session, path);
    const { offset, length } = session;
    const digest = createHash(session.options.hashAlgorithm);
    await withFile(path, "r", (file) => blocks(file, offset, length, (block) => void digest.update(block)));
    const last = Math.max(0, offset + length - 1);
    session.reply(`213 ${session.options.hash} ${offset}-${last} ${digest.digest("hex")} ${path}`);
    session.resetRange();
  },
};

function argument(text: string): number {
  try {
    return toInteger(text);
  } catch {
    throw new SessionError(501, "Argument syntax error");
  }
}

/** Sets the range to read. @returns The number of bytes to announce: with `REST`, that of the whole file. */
function announce(session: Session, path: string): number {
  const info = new FileInfo(path);
  if (!info.canRead()) throw new SessionError(550, INACCESSIBLE);
  if (session.ranged) return session.length;
  session.length = info.size - session.offset;
  return info.size;
}

async function send(session: Session, path: string): Promise<void> {
  const { fault } = session;
  await withFile(path, "r", async (file) => {
    const data = dataOf(session, "write");
    if (fault?.kind === "silent-data") return await silence(session);
    const limit = fault?.kind === "cut-data" ? Math.min(session.length, fault.after) : session.length;
    await blocks(file, session.offset, limit, (block) => data.write(block));
  });
  if (fault?.kind === "cut-data") return await cut(session, fault.then);
  session.resetRange();
  session.reply("226 File transfer successful");
  if (!session.options.keepAlive) await session.closeData();
}

/** Stores data until the connection ends or all announced bytes arrived; fewer bytes are no failure. */
async function receive(session: Session, path: string): Promise<void> {
  const { fault } = session;
  await withFile(path, "r+", async (file) => {
    if (!session.ranged) await file.truncate(0);
    const data = dataOf(session, "read");
    if (session.offset < 0) throw systemError("EINVAL");
    if (fault?.kind === "silent-data") return await silence(session);
    const limit = fault?.kind === "cut-data" ? Math.min(session.length, fault.after) : session.length;
    for (let total = 0; total < limit;) {
      const block = await data.read(limit - total);
      if (block.length === 0) break;
      await file.write(block, 0, block.length, session.offset + total);
      total += block.length;
    }
  });
  if (fault?.kind === "cut-data") return await cut(session, fault.then);
  if (!session.options.keepAlive) await session.closeData();
  session.resetRange();
  session.reply("226 File transfer successful");
}

function dataOf(session: Session, attribute: string): DataConnection {
  if (session.data === undefined) throw new PythonError(`'NoneType' object has no attribute '${attribute}'`);
  if (session.options.compress || session.options.encrypted) {
    throw new PythonError("compressed and encrypted data connections are not simulated");
  }
  return session.data;
}

async function cut(session: Session, then: "226" | "ENOSPC" | "EIO" | "close"): Promise<void> {
  await session.closeData();
  if (then === "close") throw new ControlClosed("The session was to end in its transfer");
  if (then !== "226") throw systemError(then);
  session.resetRange();
  session.reply("226 File transfer successful");
}

/** Waits until the client gives up. */
async function silence(session: Session): Promise<void> {
  while (await session.control.readLine() !== undefined);
}

async function dropDataOnError(session: Session, transfer: () => Promise<void>): Promise<void> {
  try {
    await transfer();
  } catch (error) {
    await session.closeData();
    throw error;
  }
}

function touch(path: string): void {
  const now = new Date();
  withPaths(
    [path],
    () =>
      new FileInfo(path).isDirectory() ? utimesSync(path, now, now) : closeSync(openSync(path, "a", 0o666)),
  );
}

async function withFile(
  path: string,
  mode: "r" | "r+",
  use: (file: FileHandle) => Promise<void>,
): Promise<void> {
  if (new FileInfo(path).isDirectory()) throw systemError("EISDIR", path);
  const file = await open(path, mode).catch((error) => {
    throw systemError(errorCode(error), path);
  });
  try {
    await use(file);
  } finally {
    await file.close();
  }
}

/** Reads a part of a file in blocks; less if the file ends before. */
async function blocks(
  file: FileHandle,
  offset: number,
  length: number,
  use: (block: Uint8Array) => Promise<void> | void,
): Promise<void> {
  if (offset < 0) throw systemError("EINVAL");
  for (let total = 0; total < length;) {
    const wanted = new Uint8Array(Math.min(BLOCK, length - total));
    const { bytesRead } = await file.read(wanted, 0, wanted.length, offset + total);
    if (bytesRead === 0) return;
    await use(wanted.subarray(0, bytesRead));
    total += bytesRead;
  }
}
