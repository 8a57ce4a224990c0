import { closeQuietly, ifExists, writeAll } from "../model/regular_file.ts";
import { lstatSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Logger } from "../logging/logger.ts";
import { messageOf } from "../model/text.ts";
import { CannotStart } from "./worker_lifecycle.ts";
import {
  type AdminRequest,
  AdminRequestFailed,
  MAX_REQUEST,
  parseAdminRequest,
} from "../resource/admin/admin_request.ts";
import type { ControlConfig, LoggingConfig } from "../config/service_config.ts";

/** Error: another service answers on the socket. */
export class AnotherService extends CannotStart {
  constructor(path: string) {
    super([`control socket ${path}: another service answers there, is it running already?`]);
  }
}

interface ControlParts {
  /** Returns the result of a request. @throws {AdminRequestFailed} Its message goes to the operator. */
  readonly answer: (request: AdminRequest) => Promise<unknown>;
  readonly log: Logger;
  readonly requestMs?: number; // time for a caller to send a line, in milliseconds; default 5 s
}

const REQUEST_MS = 5000;
const RETRY_MS = 1000;
const MAX_CONNECTIONS = 16; // most concurrent connections; further ones are closed
/** Longest path in bytes: Linux allows 107, and its creation needs a longer one temporarily. */
export const MAX_PATH_BYTES = 92;

/** Unix socket for the operator's commands, open to its owner and root only. One line of JSON each way. */
export class ControlSocket {
  readonly #accepting: Promise<void>;
  #closed = false;
  #retry: (() => void) | undefined; // ends the pause before the next attempt to accept a caller
  readonly #open = new Set<Deno.UnixConn>();
  readonly #asked = new Set<Deno.UnixConn>();

  private constructor(
    readonly path: string,
    readonly listener: Deno.UnixListener,
    readonly parts: ControlParts,
  ) {
    this.#accepting = this.#accept();
  }

  /** Listens; replaces the socket of a dead process. @throws {CannotStart} If the path is taken or unusable. */
  static async listen(path: string, parts: ControlParts): Promise<ControlSocket> {
    if (new TextEncoder().encode(path).length > MAX_PATH_BYTES) {
      throw new CannotStart(
        [`control socket ${path}: expected a path of at most ${MAX_PATH_BYTES} bytes`],
        true,
      );
    }
    try {
      await Deno.mkdir(dirname(path), { recursive: true });
      return new ControlSocket(path, await open(path), parts);
    } catch (error) {
      if (error instanceof CannotStart) throw error;
      throw new CannotStart([`control socket ${path}: ${messageOf(error)}`], true);
    }
  }

  /** Stops listening and removes the socket, or logs why it cannot. Running requests still get their replies. */
  async close(): Promise<void> {
    this.#closed = true;
    this.listener.close();
    this.#retry?.();
    for (const connection of this.#open) if (!this.#asked.has(connection)) closeQuietly(connection);
    await this.#accepting;
    await ifExists(Deno.remove(this.path)).catch((error) =>
      this.parts.log.warn("control socket not removed", { path: this.path, error })
    );
  }

  async #accept(): Promise<void> {
    while (!this.#closed) {
      try {
        const connection = await this.listener.accept();
        if (this.#open.size >= MAX_CONNECTIONS) closeQuietly(connection);
        else void this.#serve(connection);
      } catch (error) {
        if (this.#closed) return;
        // For example too many open files, which is temporary.
        this.parts.log.error("control socket could not take a caller, trying again", { error });
        using _timer = setTimeout(() => this.#retry?.(), RETRY_MS);
        await new Promise<void>((resolve) => this.#retry = resolve);
      }
    }
  }

  async #serve(connection: Deno.UnixConn): Promise<void> {
    this.#open.add(connection);
    const timer = setTimeout(() => closeQuietly(connection), this.parts.requestMs ?? REQUEST_MS);
    try {
      const reply = await this.#reply(async () => {
        const line = await readLine(connection, MAX_REQUEST);
        clearTimeout(timer);
        this.#asked.add(connection);
        return line;
      });
      await writeLine(connection, JSON.stringify(reply));
    } catch {
      // The caller has disconnected or timed out.
    } finally {
      clearTimeout(timer);
      this.#open.delete(connection);
      this.#asked.delete(connection);
      closeQuietly(connection);
    }
  }

  async #reply(read: () => Promise<string>) {
    try {
      return { ok: true, result: await this.parts.answer(parseAdminRequest(await read())) };
    } catch (error) {
      if (error instanceof AdminRequestFailed || error instanceof InvalidLine) {
        return { ok: false, error: error.message };
      }
      if (error instanceof Deno.errors.BadResource || error instanceof Deno.errors.Interrupted) throw error;
      this.parts.log.error("operator's command failed", { error });
      return { ok: false, error: "The service failed to do it, its log says why" };
    }
  }
}

/** Creates the socket with mode 0600 from its first moment. */
async function open(path: string): Promise<Deno.UnixListener> {
  try {
    return listen(path);
  } catch (error) {
    if (!(error instanceof Deno.errors.AddrInUse)) throw error;
  }
  const there = await Deno.lstat(path);
  if (!there.isSocket) {
    throw new CannotStart([`control socket ${path}: there is something that is no socket`], true);
  }
  if (await answers(path)) throw new AnotherService(path);
  await Deno.remove(path);
  return listen(path);
}

/** Opens the socket in a private folder, restricts it, then moves it to its path. @throws {Deno.errors.AddrInUse} */
function listen(path: string): Deno.UnixListener {
  if (lstatSync(path, { throwIfNoEntry: false }) !== undefined) throw new Deno.errors.AddrInUse(path);
  const folder = Deno.makeTempDirSync({ dir: dirname(path), prefix: "." });
  const hidden = `${folder}/s`;
  try {
    const listener = Deno.listen({ transport: "unix", path: hidden });
    Deno.chmodSync(hidden, 0o600);
    Deno.renameSync(hidden, path);
    return listener;
  } finally {
    Deno.removeSync(folder, { recursive: true });
  }
}

async function answers(path: string): Promise<boolean> {
  try {
    (await Deno.connect({ transport: "unix", path })).close();
    return true;
  } catch (error) {
    if (error instanceof Deno.errors.ConnectionRefused || error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}

const NAME = "control.sock";

/** Socket in the folder that systemd creates (`RuntimeDirectory=authserver`), for commands outside of systemd. */
export const SYSTEM_SOCKET = "/run/authserver/control.sock";

interface Place {
  readonly control: ControlConfig;
  readonly logging: LoggingConfig;
  readonly environment: (name: string) => string | undefined;
}

/** Returns the path of the service's own socket; `undefined` if it has none. */
export function ownControlSocket({ control, logging, environment }: Place): string | undefined {
  if (!control.enabled || control.socket !== undefined) return control.socket;
  const folder = runtimeFolder(environment) ?? besideLog(logging);
  return folder && join(folder, NAME);
}

/** Returns the paths where commands look for the service, the likeliest first. */
export function controlSockets(place: Place): readonly string[] {
  if (!place.control.enabled) return [];
  return place.control.socket === undefined ? usualSockets(place) : [place.control.socket];
}

/** Returns also the usual paths, for a service with an earlier configuration. */
export function formerControlSockets(place: Place): readonly string[] {
  return [...new Set([...controlSockets(place), ...usualSockets(place)])];
}

function usualSockets({ logging, environment }: Place): readonly string[] {
  const folders = [runtimeFolder(environment), besideLog(logging)].filter((folder) => folder !== undefined);
  return [...new Set([...folders.map((folder) => join(folder, NAME)), SYSTEM_SOCKET])];
}

/** Returns the first of `RUNTIME_DIRECTORY`, which systemd separates by colons. */
function runtimeFolder(environment: Place["environment"]): string | undefined {
  return environment("RUNTIME_DIRECTORY")?.split(":").find((folder) => folder.startsWith("/"));
}

function besideLog({ file }: LoggingConfig): string | undefined {
  return file === undefined ? undefined : dirname(file);
}

/** Error for a line that is too long, cut off, or not UTF-8. */
export class InvalidLine extends Error {}

/** Reads one line of UTF-8 without its end, of at most `maxBytes`. @throws {InvalidLine} */
export async function readLine(connection: Pick<Deno.Conn, "read">, maxBytes: number): Promise<string> {
  const chunks: Uint8Array[] = [];
  const buffer = new Uint8Array(64 * 1024);
  for (let length = 0; length <= maxBytes;) {
    const count = await connection.read(buffer);
    if (count === null) throw new InvalidLine("the line is cut off");
    const end = buffer.subarray(0, count).indexOf(0x0a);
    const taken = buffer.slice(0, end < 0 ? count : end);
    chunks.push(taken);
    length += taken.length;
    if (end >= 0 && length <= maxBytes) return decode(chunks);
  }
  throw new InvalidLine(`the line is longer than ${maxBytes} bytes`);
}

function decode(chunks: readonly Uint8Array[]): string {
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  try {
    return chunks.map((chunk) => decoder.decode(chunk, { stream: true })).join("") + decoder.decode();
  } catch {
    throw new InvalidLine("the line is not UTF-8");
  }
}

/** Writes a whole line. */
export async function writeLine(connection: Pick<Deno.Conn, "write">, line: string): Promise<void> {
  await writeAll(connection, new TextEncoder().encode(`${line}\n`));
}
