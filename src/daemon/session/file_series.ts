import { httpError } from "../../model/http_error.ts";
import { ChunkReader } from "./chunk_reader.ts";
import type { ControlConnection } from "./control_connection.ts";
import type { GuardedSocket } from "./guarded_socket.ts";
import { refusal } from "./reply_reader.ts";
import type { SessionTimes } from "./session_times.ts";

/** What is wanted of a regular file: its first bytes, so many. */
interface WantedFile {
  /** As the daemon takes it in a command. */
  readonly path: string;
  readonly length: number;
}

/**
 * Characters of commands that the daemon is sent before it has done those before: enough for many files, and so few that they
 * find room in the system's buffers while the daemon, busy with data, does not read them.
 */
const AHEAD = 4096;

/**
 * Files one after the other over one data connection that is kept (`KEEP-ALIVE`), asked for before their turn comes: no file
 * waits for the way to the daemon and back. What is not read of one is lost with the session. A file that is shorter than
 * wanted takes from the next one's bytes, so that in the end the last one lacks them, and all fails.
 */
export class FileSeries {
  readonly #files: readonly WantedFile[];
  readonly #control: ControlConnection;
  readonly #data: GuardedSocket;
  readonly #chunks: ChunkReader;
  readonly #times: SessionTimes;
  readonly #late: () => void;
  #asked = 0;
  #answered = 0;
  /** Characters of commands of files that were not answered. */
  #ahead = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** @param late Called when nobody takes the data, whoever that is. */
  constructor(
    files: readonly WantedFile[],
    { control, data, times, late }: {
      readonly control: ControlConnection;
      readonly data: GuardedSocket;
      readonly times: SessionTimes;
      readonly late: () => void;
    },
  ) {
    this.#files = files;
    this.#control = control;
    this.#data = data;
    this.#chunks = new ChunkReader(data);
    this.#times = times;
    this.#late = late;
  }

  /**
   * The bytes of the next file, of which all must be taken.
   * @throws {ERR_ACCESS_REFUSED | ERR_DAEMON_SESSION | ERR_DAEMON_SESSION_TIMEOUT}
   */
  async *next(): AsyncGenerator<Uint8Array<ArrayBuffer>, void> {
    clearTimeout(this.#timer);
    const file = this.#files[this.#answered];
    if (file === undefined) throw new TypeError("no more files were wanted");
    await this.#ask();
    this.#answered++;
    this.#ahead -= commandsOf(file).join("").length;
    await this.#expect("RANG", 350);
    await this.#expect("RETR", 150);
    for (let left = file.length; left > 0;) {
      const chunk = await this.#read(left);
      left -= chunk.length;
      this.#watch();
      yield chunk;
      clearTimeout(this.#timer);
    }
    await this.#expect("RETR", 226);
    if (this.#answered === this.#files.length) this.close();
    else this.#watch();
  }

  /** Ends the data connection; may be called any number of times. */
  close(): void {
    clearTimeout(this.#timer);
    this.#chunks.close();
  }

  /** Asks for the next file, and for those behind it for whose commands there is room. */
  async #ask(): Promise<void> {
    const commands: string[] = [];
    for (;;) {
      const more = this.#files[this.#asked];
      if (more === undefined) break;
      const texts = commandsOf(more);
      const length = texts.join("").length;
      if (this.#asked > this.#answered && this.#ahead + length > AHEAD) break;
      commands.push(...texts);
      this.#asked++;
      this.#ahead += length;
    }
    if (commands.length > 0) await this.#control.sendAhead(commands);
  }

  async #read(most: number): Promise<Uint8Array<ArrayBuffer>> {
    const chunk = await this.#chunks.read(most, this.#times.dataIdleMs);
    if (chunk === undefined) {
      throw httpError("ERR_DAEMON_SESSION", "Daemon ended the data of several files early");
    }
    return chunk;
  }

  async #expect(command: string, code: number): Promise<void> {
    const reply = await this.#control.readReply();
    if (reply.code !== code) throw refusal(command, reply);
  }

  /** Until somebody asks for more. */
  #watch(): void {
    this.#timer = setTimeout(() => {
      this.#data.fail(httpError("ERR_DAEMON_SESSION_TIMEOUT", "The client does not take the data"));
      this.#late();
    }, this.#times.clientIdleMs);
  }
}

/** The end is exclusive. An explicit range makes growth of a file harmless. */
function commandsOf({ path, length }: WantedFile): readonly string[] {
  return [`RANG 0 ${length}`, `RETR ${path}`];
}
