/** Error for an invalid or truncated tar archive, with a text for the operator. */
export class InvalidArchive extends Error {
  override readonly name = "InvalidArchive";
}

/** File in an archive. */
export interface TarEntry {
  /** Without leading `./`. */
  readonly path: string;
  readonly mode: number;
  readonly content: Uint8Array;
}

const BLOCK = 512;

/**
 * Yields the files of an archive (POSIX.1-2017, pax, "ustar Interchange Format"; long names of GNU tar); skips folders and
 * links. @throws {InvalidArchive}
 */
export function* tarEntries(archive: Uint8Array): Generator<TarEntry> {
  let longName: string | undefined;
  for (let at = 0;;) {
    const header = part(archive, at, BLOCK);
    if (header.every((byte) => byte === 0)) return;
    checkSum(header);
    const size = octal(header, 124, 12);
    const content = part(archive, at + BLOCK, size);
    at += BLOCK + Math.ceil(size / BLOCK) * BLOCK;
    const type = String.fromCharCode(header[156] ?? 0);
    if (type === "L" || type === "x") {
      longName = (type === "L" ? text(content) : paxPath(content)) ?? longName;
      continue;
    }
    if (type === "0" || type === "\0") {
      const path = (longName ?? nameIn(header)).replace(/^(?:\.?\/)+/, "");
      yield { path, mode: octal(header, 100, 8) & 0o777, content };
    }
    longName = undefined;
  }
}

function part(archive: Uint8Array, at: number, length: number): Uint8Array {
  if (at + length > archive.length) throw new InvalidArchive("it is cut off");
  return archive.subarray(at, at + length);
}

function checkSum(header: Uint8Array): void {
  const sum = header.reduce((sum, byte, at) => sum + (at >= 148 && at < 156 ? 32 : byte), 0);
  if (sum !== octal(header, 148, 8)) throw new InvalidArchive("it holds no tar archive");
}

/** Parses octal digits. @throws {InvalidArchive} Also for sizes of 8 GiB and more, which have another form. */
function octal(header: Uint8Array, at: number, length: number): number {
  const digits = text(header.subarray(at, at + length)).trim();
  if (!/^[0-7]{1,12}$/.test(digits)) throw new InvalidArchive("it holds no tar archive");
  return parseInt(digits, 8);
}

function nameIn(header: Uint8Array): string {
  const name = text(header.subarray(0, 100));
  const prefix = text(header.subarray(257, 262)) === "ustar" ? text(header.subarray(345, 500)) : "";
  return prefix === "" ? name : `${prefix}/${name}`;
}

function text(bytes: Uint8Array): string {
  const end = bytes.indexOf(0);
  return new TextDecoder().decode(end < 0 ? bytes : bytes.subarray(0, end));
}

/** Returns `path` of records such as `18 path=conf/users\n`, which begin with their length. */
function paxPath(content: Uint8Array): string | undefined {
  let path: string | undefined;
  for (let at = 0; at < content.length;) {
    const blank = content.indexOf(32, at);
    const length = blank < 0 ? NaN : Number(new TextDecoder().decode(content.subarray(at, blank)));
    if (!(length > blank - at + 1 && at + length <= content.length)) {
      throw new InvalidArchive("a name in it is damaged");
    }
    const record = new TextDecoder().decode(content.subarray(blank + 1, at + length - 1));
    if (record.startsWith("path=")) path = record.slice("path=".length);
    at += length;
  }
  return path;
}
