import { Buffer } from "node:buffer";
import { CommandFailed } from "../../command.ts";

/** A file in an archive. */
export interface TarEntry {
  /** As in the archive, without `./` in front. */
  readonly path: string;
  readonly mode: number;
  /** In bytes. */
  readonly size: number;
  /** Reads it; before the next entry is asked for, or not at all. */
  readonly read: () => Promise<Uint8Array>;
}

const BLOCK = 512;
/** Longest name that is read, in bytes; the system's limit is 4096. */
const MAX_NAME = 64 * 1024;

/**
 * The files of a compressed archive, one after the other (POSIX.1-2017, pax, "ustar Interchange Format"; long names of GNU
 * tar). Folders and links are left out.
 * @param file Path of a `.tar.gz`.
 * @throws {CommandFailed} If it is none, or is cut off.
 */
export async function* tarEntries(file: string): AsyncGenerator<TarEntry> {
  const opened = await Deno.open(file);
  const content = opened.readable.pipeThrough(new DecompressionStream("gzip"));
  const bytes = new ByteReader(content);
  try {
    let longName: string | undefined;
    for (;;) {
      const header = await bytes.take(BLOCK);
      if (header.every((byte) => byte === 0)) return;
      checkSum(header);
      const size = octal(header, 124, 12);
      const type = String.fromCharCode(header[156] ?? 0);
      const padded = Math.ceil(size / BLOCK) * BLOCK;
      if (type === "L" || type === "x") {
        if (size > MAX_NAME) throw new CommandFailed(`a name in it has ${size} bytes`);
        const content = (await bytes.take(padded)).subarray(0, size);
        longName = (type === "L" ? text(content) : paxPath(content)) ?? longName;
        continue;
      }
      let left = padded;
      if (type === "0" || type === "\0") {
        yield {
          path: (longName ?? nameIn(header)).replace(/^(?:\.?\/)+/, ""),
          mode: octal(header, 100, 8) & 0o777,
          size,
          read: async () => {
            left = 0;
            return (await bytes.take(padded)).subarray(0, size);
          },
        };
      }
      await bytes.skip(left);
      longName = undefined;
    }
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    throw new CommandFailed(`${file} cannot be read as a .tar.gz: ${error.message}`, { cause: error });
  } finally {
    await bytes.close();
  }
}

/** Takes bytes out of a stream in the amounts that are wanted. */
class ByteReader {
  readonly #chunks: AsyncIterator<Uint8Array>;
  #rest: Uint8Array = new Uint8Array();

  constructor(stream: AsyncIterable<Uint8Array>) {
    this.#chunks = stream[Symbol.asyncIterator]();
  }

  async close(): Promise<void> {
    await this.#chunks.return?.();
  }

  /** @throws {CommandFailed} If there are fewer. */
  async take(count: number): Promise<Uint8Array> {
    const parts: Uint8Array[] = [];
    await this.#pass(count, (part) => parts.push(part));
    return Buffer.concat(parts);
  }

  async skip(count: number): Promise<void> {
    await this.#pass(count, () => {});
  }

  async #pass(count: number, use: (part: Uint8Array) => void): Promise<void> {
    for (let left = count; left > 0;) {
      if (this.#rest.length === 0) {
        const { value, done } = await this.#chunks.next();
        if (done === true) throw new CommandFailed("it is cut off");
        this.#rest = value;
      }
      const part = this.#rest.subarray(0, left);
      this.#rest = this.#rest.subarray(part.length);
      left -= part.length;
      use(part);
    }
  }
}

/** @throws {CommandFailed} If it is not what the header says: this is no archive. */
function checkSum(header: Uint8Array): void {
  const sum = header.reduce((sum, byte, at) => sum + (at >= 148 && at < 156 ? 32 : byte), 0);
  if (sum !== octal(header, 148, 8)) throw new CommandFailed("it holds no tar archive");
}

/** A number in octal digits; @throws {CommandFailed} also for sizes of 8 GiB and more, which have another form. */
function octal(header: Uint8Array, at: number, length: number): number {
  const digits = text(header.subarray(at, at + length)).trim();
  if (!/^[0-7]{1,12}$/.test(digits)) throw new CommandFailed("it holds no tar archive");
  return parseInt(digits, 8);
}

function nameIn(header: Uint8Array): string {
  const name = text(header.subarray(0, 100));
  const prefix = text(header.subarray(257, 262)) === "ustar" ? text(header.subarray(345, 500)) : "";
  return prefix === "" ? name : `${prefix}/${name}`;
}

/** Up to the first NUL. */
function text(bytes: Uint8Array): string {
  const end = bytes.indexOf(0);
  return new TextDecoder().decode(end < 0 ? bytes : bytes.subarray(0, end));
}

/** `path` of records such as `18 path=conf/users\n`, which begin with their length. */
function paxPath(content: Uint8Array): string | undefined {
  let path: string | undefined;
  for (let at = 0; at < content.length;) {
    const blank = content.indexOf(32, at);
    const length = blank < 0 ? NaN : Number(new TextDecoder().decode(content.subarray(at, blank)));
    if (!(length > blank - at + 1 && at + length <= content.length)) {
      throw new CommandFailed("a name in it is damaged");
    }
    const record = new TextDecoder().decode(content.subarray(blank + 1, at + length - 1));
    if (record.startsWith("path=")) path = record.slice("path=".length);
    at += length;
  }
  return path;
}
