/** Tests of the records of an archive, byte by byte, as in APPNOTE.TXT 6.3.10. */
import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import {
  centralHeader,
  dataDescriptor,
  endOfArchive,
  localHeader,
  type ZipMember,
} from "../../../../src/resource/access/archive/zip_records.ts";

/** Field: number of bytes, and the little-endian number in them. */
type Field = readonly [name: string, bytes: number, value: number | bigint];

/** Asserts that a record has exactly these fields, and then these bytes. */
function assertFields(record: Buffer, fields: readonly Field[], rest: Uint8Array = new Uint8Array()): void {
  let at = 0;
  for (const [name, bytes, value] of fields) {
    let found = 0n;
    for (let i = bytes - 1; i >= 0; i--) found = found << 8n | BigInt(record[at + i] ?? -1);
    assert.equal(`${name} 0x${found.toString(16)}`, `${name} 0x${value.toString(16)}`);
    at += bytes;
  }
  assert.deepEqual([...record.subarray(at)], [...rest]);
}

const NAME = new TextEncoder().encode("d/ü.txt");
const FILE: ZipMember = {
  name: NAME,
  directory: false,
  size: 0x0123_4567,
  modified: "20260304050607",
  offset: 0x89ab,
};
const DIRECTORY: ZipMember = { ...FILE, directory: true, size: 0 };
/** 5 h 6 min 6 s, in units of two seconds; 4 March, 46 years after 1980. */
const [TIME, DATE] = [5 << 11 | 6 << 5 | 3, 46 << 9 | 3 << 5 | 4];
const LARGE = 0x1_0000_0005;
const MAX_32 = 0xffff_ffff;

/** Returns the Zip64 field with numbers of 64 bits (4.5.3). */
function zip64(...numbers: readonly number[]): Buffer {
  const field = Buffer.alloc(4 + 8 * numbers.length);
  field.writeUInt16LE(1, 0);
  field.writeUInt16LE(8 * numbers.length, 2);
  numbers.forEach((number, i) => field.writeBigUInt64LE(BigInt(number), 4 + 8 * i));
  return field;
}

const local = (flags: number, size: number, extra: number): readonly Field[] => [
  ["signature", 4, 0x04034b50],
  ["version needed", 2, 45],
  ["flags", 2, flags],
  ["method: stored", 2, 0],
  ["time", 2, TIME],
  ["date", 2, DATE],
  ["checksum, behind the file", 4, 0],
  ["compressed size", 4, size],
  ["size", 4, size],
  ["length of name", 2, NAME.length],
  ["length of extra field", 2, extra],
];

Deno.test("localHeader() has the fields of APPNOTE 4.3.7", () => {
  assertFields(localHeader(FILE), local(0x0808, FILE.size, 0), NAME);
  assertFields(localHeader(DIRECTORY), local(0x0800, 0, 0), NAME);
  for (const size of [MAX_32, LARGE]) {
    assertFields(
      localHeader({ ...FILE, size }),
      local(0x0808, MAX_32, 20),
      Buffer.concat([NAME, zip64(size, size)]),
    );
  }
  assertFields(localHeader({ ...FILE, size: MAX_32 - 1 }), local(0x0808, MAX_32 - 1, 0), NAME);
});

Deno.test("dataDescriptor() has the fields of APPNOTE 4.3.9", () => {
  const of = (bytes: number, size: number): readonly Field[] => [
    ["signature", 4, 0x08074b50],
    ["checksum", 4, 0xdead_beef],
    ["compressed size", bytes, size],
    ["size", bytes, size],
  ];
  assertFields(dataDescriptor(FILE, 0xdead_beef), of(4, FILE.size));
  assertFields(dataDescriptor({ ...FILE, size: MAX_32 - 1 }, 0xdead_beef), of(4, MAX_32 - 1));
  for (const size of [MAX_32, LARGE]) {
    assertFields(dataDescriptor({ ...FILE, size }, 0xdead_beef), of(8, size));
  }
});

const central = (
  { flags = 0x0808, size = FILE.size, extra = 0, attributes = 0o100644 * 0x10000, offset = FILE.offset } = {},
): readonly Field[] => [
  ["signature", 4, 0x02014b50],
  ["version made by: Unix, 4.5", 2, 0x032d],
  ["version needed", 2, 45],
  ["flags", 2, flags],
  ["method: stored", 2, 0],
  ["time", 2, TIME],
  ["date", 2, DATE],
  ["checksum", 4, 0xdead_beef],
  ["compressed size", 4, size],
  ["size", 4, size],
  ["length of name", 2, NAME.length],
  ["length of extra field", 2, extra],
  ["length of comment", 2, 0],
  ["disk", 2, 0],
  ["internal attributes", 2, 0],
  ["external attributes", 4, attributes],
  ["offset", 4, offset],
];

Deno.test("centralHeader() has the fields of APPNOTE 4.3.12, and only the numbers in the Zip64 field that do not fit", () => {
  const header = (member: ZipMember) => centralHeader(member, 0xdead_beef);
  assertFields(header(FILE), central(), NAME);
  const attributes = 0o040755 * 0x10000 + 0x10;
  assertFields(header(DIRECTORY), central({ flags: 0x0800, size: 0, attributes }), NAME);
  for (const big of [MAX_32, LARGE]) {
    assertFields(
      header({ ...FILE, size: big }),
      central({ size: MAX_32, extra: 20 }),
      Buffer.concat([NAME, zip64(big, big)]),
    );
    assertFields(
      header({ ...FILE, offset: big }),
      central({ offset: MAX_32, extra: 12 }),
      Buffer.concat([NAME, zip64(big)]),
    );
    assertFields(
      header({ ...FILE, size: big, offset: big }),
      central({ size: MAX_32, offset: MAX_32, extra: 28 }),
      Buffer.concat([NAME, zip64(big, big, big)]),
    );
  }
  const [size, offset] = [MAX_32 - 1, MAX_32 - 1];
  assertFields(header({ ...FILE, size, offset }), central({ size, offset }), NAME);
});

const end = (members: number, size: number, start: number): readonly Field[] => [
  ["signature", 4, 0x06054b50],
  ["disk", 2, 0],
  ["disk of the directory", 2, 0],
  ["members on this disk", 2, Math.min(members, 0xffff)],
  ["members", 2, Math.min(members, 0xffff)],
  ["size of the directory", 4, Math.min(size, MAX_32)],
  ["start of the directory", 4, Math.min(start, MAX_32)],
  ["length of comment", 2, 0],
];
const largeEnd = (members: number, size: number, start: number): readonly Field[] => [
  ["Zip64 signature", 4, 0x06064b50],
  ["size of what follows", 8, 44],
  ["version made by", 2, 0x032d],
  ["version needed", 2, 45],
  ["disk", 4, 0],
  ["disk of the directory", 4, 0],
  ["members on this disk", 8, members],
  ["members", 8, members],
  ["size of the directory", 8, size],
  ["start of the directory", 8, start],
  ["locator signature", 4, 0x07064b50],
  ["disk of the Zip64 end", 4, 0],
  ["start of the Zip64 end", 8, start + size],
  ["disks", 4, 1],
];

const ENDS: readonly (readonly [members: number, size: number, start: number, large: boolean])[] = [
  [0, 0, 0, false],
  [3, 200, 5000, false],
  [0xfffe, MAX_32 - 1, MAX_32 - 1, false],
  [0xffff, 200, 5000, true],
  [70_000, 200, 5000, true],
  [3, MAX_32, 5000, true],
  [3, 200, MAX_32, true],
  [3, 200, LARGE, true],
];
for (const [members, size, start, large] of ENDS) {
  Deno.test(`endOfArchive() of ${members} members, ${size} bytes behind ${start}, has the fields of APPNOTE 4.3.14 to 4.3.16`, () => {
    assertFields(endOfArchive(members, start, size), [
      ...(large ? largeEnd(members, size, start) : []),
      ...end(members, size, start),
    ]);
  });
}

const TIMES: readonly (readonly [modified: string | undefined, time: number, date: number])[] = [
  [undefined, 0, 1 << 5 | 1],
  ["19791231235959", 0, 1 << 5 | 1],
  ["19800101000000", 0, 1 << 5 | 1],
  ["20260304050607", TIME, DATE],
  ["20261231235959", 23 << 11 | 59 << 5 | 29, 46 << 9 | 12 << 5 | 31],
];
for (const [modified, time, date] of TIMES) {
  Deno.test(`localHeader() has the time of ${modified} (4.4.6)`, () => {
    const header = localHeader({ ...FILE, modified });
    assert.deepEqual([header.readUInt16LE(10), header.readUInt16LE(12)], [time, date]);
  });
}
