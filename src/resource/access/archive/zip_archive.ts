import { Buffer } from "node:buffer";
import { crc32 } from "node:zlib";
import { centralHeader, dataDescriptor, endOfArchive, localHeader, type ZipMember } from "./zip_records.ts";

/** Chunks that each own their buffer. */
type Chunks = AsyncIterable<Uint8Array<ArrayBuffer>>;

export interface ArchiveEntry {
  readonly name: string; // slash-separated; a directory ends in a slash
  readonly size: number;
  readonly modified?: string; // `YYYYMMDDhhmmss`, local time
  /** Yields exactly `size` bytes; called when the entry is written. */
  readonly open?: (() => Promise<Chunks> | Chunks) | undefined;
}

/** Yields a ZIP archive of uncompressed files in pieces that own their buffers. @throws {TypeError} If a size is not as announced. */
export async function* zipArchive(
  entries: AsyncIterable<ArchiveEntry>,
): AsyncGenerator<Uint8Array<ArrayBuffer>, void> {
  const directory: Buffer[] = [];
  let offset = 0;
  for await (const { name, size, modified, open } of entries) {
    const member: ZipMember = {
      name: new TextEncoder().encode(name),
      directory: name.endsWith("/"),
      size,
      modified,
      offset,
    };
    const header = localHeader(member);
    yield new Uint8Array(header);
    offset += header.length;
    let checksum = 0;
    let bytes = 0;
    if (open !== undefined) {
      for await (const chunk of await open()) {
        checksum = crc32(chunk, checksum);
        bytes += chunk.length;
        if (bytes <= size) yield chunk;
      }
    }
    if (bytes !== size) throw new TypeError(`${bytes} bytes of a file of ${size}`);
    offset += bytes;
    if (!member.directory) {
      const descriptor = dataDescriptor(member, checksum);
      yield new Uint8Array(descriptor);
      offset += descriptor.length;
    }
    directory.push(centralHeader(member, checksum));
  }
  let length = 0;
  for (const header of directory) {
    yield new Uint8Array(header);
    length += header.length;
  }
  yield new Uint8Array(endOfArchive(directory.length, offset, length));
}
