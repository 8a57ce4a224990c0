import { isIPv4 } from "node:net";
import { COMMANDS } from "./commands.ts";
import { type ControlChannel, ControlClosed } from "./control_channel.ts";
import { type DataConnection, openDataPort } from "./data_connection.ts";
import type { Job } from "./job_table.ts";
import { Undecodable } from "./line_splitter.ts";
import { errorCode, PythonError, splitOnce, systemError, toInteger } from "./python_text.ts";
import { SessionError } from "./session_error.ts";
import type { SessionFault } from "./session_fault.ts";
import { SessionOptions } from "./session_options.ts";
import { SessionPaths } from "./session_paths.ts";

/** Settings of the daemon that a session uses. */
export interface SessionHost {
  readonly home: string;
  readonly advertiseHost?: string;
  readonly maxStreams: number;
  readonly protectedFiles: readonly string[];
  /** Longest wait for a data connection, in milliseconds. */
  readonly dataTimeout: number;
  /** IANA name of the daemon's time zone; default the system's. */
  readonly timeZone?: string;
}

/** Access levels, lowest first; any other word in a request is the highest. */
const LEVELS = ["NONE", "INFO", "READ", "WRITE", "FULL"] as const;
export type Level = typeof LEVELS[number];

/** Session after its login: serves one command after the other until its end (daemon-protocol.md 5). */
export class Session {
  readonly paths: SessionPaths;
  readonly options: SessionOptions;
  readonly #level: number;
  /** Start and length of the next transfer in bytes; length -1 if unknown. A failed transfer keeps both. */
  offset = 0;
  length = -1;
  /** Whether `RANG` set both. */
  ranged = false;
  renameFrom: string | undefined;
  data: DataConnection | undefined;
  readonly #accepted: DataConnection[] = [];
  readonly #abort = new AbortController();
  #command = "";
  /** Number of commands so far that the fault names. */
  #met = 0;

  /** @throws If the request's values do not permit a session: the daemon then closes after its `230`. */
  constructor(
    readonly control: ControlChannel,
    readonly job: Job,
    readonly host: SessionHost,
    readonly fault: SessionFault | undefined,
  ) {
    const value = (key: string, absent: string) => job.values.get(key) ?? absent;
    this.paths = new SessionPaths({
      file: value("file", ""),
      home: host.home,
      includes: value("includes", ""),
      excludes: value("excludes", ""),
      protectedFiles: host.protectedFiles,
    });
    const level = LEVELS.findIndex((name) => name === value("access-permissions", "FULL"));
    this.#level = level < 0 ? LEVELS.length - 1 : level;
    this.options = new SessionOptions(toInteger(value("rateLimit", "0")), host.maxStreams);
    this.options.streams = toInteger(value("streams", "1"));
    this.options.setEncryption(job.values.get("key"), job.values.get("algo"));
    this.options.compress = value("compress", "false").toLowerCase() === "true";
  }

  /** Serves the client until the session ends, for any reason. */
  async run(): Promise<void> {
    try {
      for (;;) {
        const line = await this.control.readLine();
        if (line !== "" && await this.#execute(line) === "end") return;
      }
    } catch (error) {
      if (!(error instanceof ControlClosed || error instanceof Undecodable)) throw error;
    } finally {
      await this.closeData();
    }
  }

  /** Aborts the wait for a data connection and closes all connections. */
  destroy(): void {
    this.#abort.abort();
    for (const connection of this.#accepted) connection.destroy();
    this.control.socket.destroy();
  }

  /** Replies to the current command, unless the fault of this session prevents it. */
  reply(text: string): void {
    const { fault } = this;
    if (fault?.kind === "no-226" && text.startsWith("226")) return;
    if (fault?.kind !== "unterminated-reply" || fault.to !== this.#command) return this.control.reply(text);
    this.control.send(text);
    throw new ControlClosed("The reply was to be cut");
  }

  assertLevel(wanted: Level): void {
    if (this.#level < LEVELS.indexOf(wanted)) throw new SessionError(534, "Access denied");
  }

  resetRange(): void {
    this.offset = 0;
    this.length = -1;
    this.ranged = false;
  }

  /**
   * Waits for a data connection; nothing else happens meanwhile.
   * @param announce Makes the reply that names the port.
   * @returns Whether the client connected.
   */
  async acceptData(announce: (port: number) => string): Promise<boolean> {
    if (this.#accepted.length === this.options.streams) await this.closeData();
    const { localAddress = "", remoteAddress: peer = "" } = this.control.socket;
    const host = this.host.advertiseHost ?? localAddress;
    const port = await openDataPort({
      host: isIPv4(host) && peer.startsWith("::ffff:") ? `::ffff:${host}` : host,
      peer,
      timeout: this.host.dataTimeout,
      signal: this.#abort.signal,
    });
    try {
      this.reply(announce(port.port));
      this.#accepted.push(await port.accept());
    } catch (error) {
      if (error instanceof PythonError) return false;
      throw error;
    } finally {
      port.close();
    }
    if (this.options.streams === 1) this.data = this.#accepted[0];
    return true;
  }

  /** Closes the data connection, if any; the next has one stream again. */
  async closeData(): Promise<void> {
    this.options.streams = 1;
    this.data = undefined;
    await Promise.all(this.#accepted.splice(0).map((connection) => connection.close()));
  }

  async #execute(line: string): Promise<"end" | void> {
    const [word, parameters] = splitOnce(line, " ");
    const command = word.toUpperCase();
    this.#command = command;
    if (this.fault?.kind === "reply" && this.fault.to === command) return this.reply(this.fault.reply);
    if (this.fault?.kind === "hang" && this.fault.on === command && this.#met++ >= (this.fault.after ?? 0)) {
      return await this.#hang();
    }
    // Replies late, so that the client's next command arrives before this reply.
    if (this.fault?.kind === "cut-data") await new Promise((resolve) => setTimeout(resolve, 20));
    const run = COMMANDS.get(command);
    if (run === undefined) return this.reply("502 Command not implemented.");
    try {
      return await run(this, parameters);
    } catch (error) {
      if (!(error instanceof Error) || error instanceof ControlClosed) throw error;
      await this.#report(command, error);
    }
  }

  async #report(command: string, error: Error): Promise<void> {
    const code = error instanceof SessionError ? error.code : 500;
    const { message } = errorCode(error) === "" ? error : systemError(errorCode(error));
    this.reply(`${code} Error processing command '${command}': ${message}`);
    if (error instanceof SessionError && error.closesData) await this.closeData();
  }

  async #hang(): Promise<void> {
    while (await this.control.readLine() !== undefined);
  }
}
