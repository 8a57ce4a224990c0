import { httpError } from "../../model/http_error.ts";
import { ChunkReader } from "./chunk_reader.ts";
import type { ControlConnection } from "./control_connection.ts";
import type { GuardedSocket } from "./guarded_socket.ts";
import type { SessionTimes } from "./session_times.ts";

interface WantedFile {
  readonly path: string; // as sent to the daemon
  readonly length: number;
}

/** Characters of pipelined commands: many files, yet within system buffers while the daemon does not read. */
const MAX_PIPELINED = 4096;

const LAST = "KEEP-ALIVE false"; // before the last file

/**
 * Reads files over one kept data connection (`KEEP-ALIVE`) with pipelined commands. A file shorter than expected takes
 * bytes of the next, so the last one, at whose end the daemon closes the connection, lacks them and all fail. Unread data
 * ends the session.
 */
export class FileSeries {
  readonly #chunks: ChunkReader;
  #asked = 0;
  #answered = 0;
  #pipelined = 0; // characters of unanswered commands
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(
    readonly files: readonly WantedFile[],
    readonly parts: {
      readonly control: ControlConnection;
      readonly data: GuardedSocket;
      readonly times: SessionTimes;
      readonly late: () => void; // called if the data is not read in time
    },
  ) {
    this.#chunks = new ChunkReader(parts.data);
  }

  /** Yields the next file, which must be read completely. */
  async *next(): AsyncGenerator<Uint8Array<ArrayBuffer>, void> {
    clearTimeout(this.#timer);
    const { control, times } = this.parts;
    const file = this.files[this.#answered];
    if (file === undefined) throw new TypeError("no more files were wanted");
    await this.#ask();
    this.#answered++;
    this.#pipelined -= this.#commandsOf(file).join("").length;
    if (file === this.files.at(-1)) await control.confirm(200, LAST);
    await control.confirm(350, "RANG");
    await control.confirm(150, "RETR");
    for (let left = file.length; left > 0;) {
      const chunk = await this.#chunks.read(left, times.dataIdleMs);
      if (chunk === undefined) throw httpError("ERR_DAEMON_SESSION", "Daemon ended the data early");
      left -= chunk.length;
      this.#watch();
      yield chunk;
      clearTimeout(this.#timer);
    }
    await control.confirm(226, "RETR");
    if (this.#answered === this.files.length) this.close();
    else this.#watch();
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#chunks.close();
  }

  /** Requests the next file and further ones up to the limit. */
  async #ask(): Promise<void> {
    const commands: string[] = [];
    for (let more = this.files[this.#asked]; more !== undefined; more = this.files[++this.#asked]) {
      const texts = this.#commandsOf(more);
      const length = texts.join("").length;
      if (this.#asked > this.#answered && this.#pipelined + length > MAX_PIPELINED) break;
      commands.push(...texts);
      this.#pipelined += length;
    }
    if (commands.length > 0) await this.parts.control.pipeline(commands);
  }

  /** The end is exclusive; an explicit range tolerates a growing file. */
  #commandsOf(file: WantedFile): readonly string[] {
    return [...(file === this.files.at(-1) ? [LAST] : []), `RANG 0 ${file.length}`, `RETR ${file.path}`];
  }

  #watch(): void {
    const { data, late, times } = this.parts;
    this.#timer = setTimeout(() => {
      data.fail(httpError("ERR_DAEMON_SESSION_TIMEOUT", "The client does not take the data"));
      late();
    }, times.clientIdleMs);
  }
}
