import { Buffer } from "node:buffer";
import { crc32 } from "node:zlib";
import { centralHeader, dataDescriptor, endOfArchive, localHeader, type ZipMember } from "./zip_records.ts";

/** Bytes as they come, each part with a buffer of its own. */
type Chunks = AsyncIterable<Uint8Array<ArrayBuffer>>;

/** A file or directory on its way into an archive. */
export interface ArchiveEntry {
  /** Parts with slashes between; a directory ends in one. */
  readonly name: string;
  /** Bytes. */
  readonly size: number;
  /** `YYYYMMDDhhmmss`, local time; absent: unknown. */
  readonly modified?: string;
  /** Exactly so many bytes, asked for when their turn comes; absent: there are none. */
  readonly open?: (() => Promise<Chunks> | Chunks) | undefined;
}

/**
 * A ZIP archive, piece by piece, of files as they are: nothing is compressed, nothing kept but the central directory. Each
 * piece has a buffer of its own, which can be handed to another thread.
 * @throws {TypeError} If a file has another number of bytes than it was said to have. And what reading throws.
 */
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
