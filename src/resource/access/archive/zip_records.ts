import { Buffer } from "node:buffer";

/*
 * The records of a ZIP archive with uncompressed files (APPNOTE.TXT 6.3.10). The size of a file is known before its
 * content, the checksum only after it: in a data descriptor (4.3.9) and in the central directory.
 */

/** Placeholder for a number that does not fit: the number is in the Zip64 field (4.5.3). */
const MAX_32 = 0xffff_ffff;
const MAX_16 = 0xffff;

/** Version 4.5 is the first with Zip64 (4.4.3); made on Unix, so that readers use the modes (4.4.2). */
const VERSION = 45;
const MADE_BY_UNIX = 3 << 8 | VERSION;

const FLAGS = 1 << 3 | 1 << 11; // checksum and sizes after the file (bit 3), names in UTF-8 (bit 11; 4.4.4)

const ZIP64_FIELD = 1;

/** File or directory of an archive. */
export interface ZipMember {
  readonly name: Uint8Array; // UTF-8, slash-separated; a directory ends in a slash
  readonly directory: boolean;
  readonly size: number;
  readonly modified?: string; // `YYYYMMDDhhmmss`, local time
  readonly offset: number; // offset of the local header in the archive
}

/** Returns the local header of a file (4.3.7). */
export function localHeader({ name, directory, size, modified }: ZipMember): Buffer {
  const record = Buffer.alloc(30);
  record.writeUInt32LE(0x0403_4b50, 0);
  record.writeUInt16LE(VERSION, 4);
  record.writeUInt16LE(directory ? FLAGS & ~(1 << 3) : FLAGS, 6);
  record.writeUInt32LE(dosTime(modified), 10);
  const large = size >= MAX_32;
  record.writeUInt32LE(large ? MAX_32 : size, 18);
  record.writeUInt32LE(large ? MAX_32 : size, 22);
  record.writeUInt16LE(name.length, 26);
  const more = large ? zip64Field([size, size]) : Buffer.alloc(0);
  record.writeUInt16LE(more.length, 28);
  return Buffer.concat([record, name, more]);
}

/** Returns the data descriptor after a file (4.3.9). @param checksum CRC-32. */
export function dataDescriptor({ size }: ZipMember, checksum: number): Buffer {
  const large = size >= MAX_32;
  const record = Buffer.alloc(large ? 24 : 16);
  record.writeUInt32LE(0x0807_4b50, 0);
  record.writeUInt32LE(checksum, 4);
  if (large) {
    record.writeBigUInt64LE(BigInt(size), 8);
    record.writeBigUInt64LE(BigInt(size), 16);
  } else {
    record.writeUInt32LE(size, 8);
    record.writeUInt32LE(size, 12);
  }
  return record;
}

/** Returns the entry of a file in the central directory (4.3.12). @param checksum CRC-32. */
export function centralHeader(
  { name, directory, size, modified, offset }: ZipMember,
  checksum: number,
): Buffer {
  const record = Buffer.alloc(46);
  record.writeUInt32LE(0x0201_4b50, 0);
  record.writeUInt16LE(MADE_BY_UNIX, 4);
  record.writeUInt16LE(VERSION, 6);
  record.writeUInt16LE(directory ? FLAGS & ~(1 << 3) : FLAGS, 8);
  record.writeUInt32LE(dosTime(modified), 12);
  record.writeUInt32LE(checksum, 16);
  const large = size >= MAX_32;
  const far = offset >= MAX_32;
  record.writeUInt32LE(large ? MAX_32 : size, 20);
  record.writeUInt32LE(large ? MAX_32 : size, 24);
  const more = large || far
    ? zip64Field([...(large ? [size, size] : []), ...(far ? [offset] : [])])
    : Buffer.alloc(0);
  record.writeUInt16LE(name.length, 28);
  record.writeUInt16LE(more.length, 30);
  const mode = directory ? 0o040755 : 0o100644;
  record.writeUInt32LE((mode << 16 | (directory ? 0x10 : 0)) >>> 0, 38);
  record.writeUInt32LE(far ? MAX_32 : offset, 42);
  return Buffer.concat([record, name, more]);
}

/** Returns the end records of an archive (4.3.14 to 4.3.16). @param start Offset of the central directory. */
export function endOfArchive(members: number, start: number, size: number): Buffer {
  const record = Buffer.alloc(22);
  record.writeUInt32LE(0x0605_4b50, 0);
  record.writeUInt16LE(Math.min(members, MAX_16), 8);
  record.writeUInt16LE(Math.min(members, MAX_16), 10);
  record.writeUInt32LE(Math.min(size, MAX_32), 12);
  record.writeUInt32LE(Math.min(start, MAX_32), 16);
  if (members < MAX_16 && size < MAX_32 && start < MAX_32) return record;
  const large = Buffer.alloc(56 + 20);
  large.writeUInt32LE(0x0606_4b50, 0);
  large.writeBigUInt64LE(44n, 4);
  large.writeUInt16LE(MADE_BY_UNIX, 12);
  large.writeUInt16LE(VERSION, 14);
  large.writeBigUInt64LE(BigInt(members), 24);
  large.writeBigUInt64LE(BigInt(members), 32);
  large.writeBigUInt64LE(BigInt(size), 40);
  large.writeBigUInt64LE(BigInt(start), 48);
  large.writeUInt32LE(0x0706_4b50, 56);
  large.writeBigUInt64LE(BigInt(start + size), 64);
  large.writeUInt32LE(1, 72);
  return Buffer.concat([large, record]);
}

function zip64Field(numbers: readonly number[]): Buffer {
  const field = Buffer.alloc(4 + 8 * numbers.length);
  field.writeUInt16LE(ZIP64_FIELD, 0);
  field.writeUInt16LE(8 * numbers.length, 2);
  for (const [i, number] of numbers.entries()) field.writeBigUInt64LE(BigInt(number), 4 + 8 * i);
  return field;
}

/** Returns the time in the low half, the date in the high one (4.4.6): years from 1980 to 2107, steps of two seconds. */
function dosTime(digits = ""): number {
  const [, year = 1980, month = 1, day = 1, hour = 0, minute = 0, second = 0] =
    /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)$/.exec(digits)?.map(Number) ?? [];
  const years = year - 1980;
  if (years < 0 || years > 127) return dosTime();
  return (((years << 9 | month << 5 | day) << 16) | (hour << 11 | minute << 5 | second >> 1)) >>> 0;
}
