/** Decrypts RC2-CBC (RFC 2268): old Java key stores use it with 40 bit keys, and the runtime lacks it. */
export function decryptRc2Cbc(
  { key, effectiveBits, iv, data }: {
    readonly key: Uint8Array;
    readonly effectiveBits: number;
    readonly iv: Uint8Array;
    readonly data: Uint8Array;
  },
): Uint8Array {
  const expanded = expandKey(key, effectiveBits);
  const result = new Uint8Array(data.length);
  let previous = iv;
  for (let start = 0; start + 8 <= data.length; start += 8) {
    const block = data.subarray(start, start + 8);
    const plain = decryptBlock(expanded, block);
    result.set(plain.map((octet, index) => octet ^ (previous[index] ?? 0)), start);
    previous = block;
  }
  return removePadding(result);
}

/** Removes PKCS#7 padding. @throws {RangeError} */
function removePadding(bytes: Uint8Array): Uint8Array {
  const count = bytes.at(-1) ?? 0;
  const padding = bytes.subarray(bytes.length - count);
  if (count < 1 || count > 8 || padding.length !== count || padding.some((octet) => octet !== count)) {
    throw new RangeError("bad padding");
  }
  return bytes.subarray(0, bytes.length - count);
}

/** Expands a key to sixty-four words of 16 bits (RFC 2268, 2). */
function expandKey(key: Uint8Array, effectiveBits: number): Uint16Array {
  const bytes = new Uint8Array(128);
  bytes.set(key);
  const table = (index: number) => PI_TABLE[index & 0xff] ?? 0;
  const at = (index: number) => bytes[index] ?? 0;
  for (let i = key.length; i < 128; i++) bytes[i] = table(at(i - 1) + at(i - key.length));
  const size = Math.ceil(effectiveBits / 8);
  const mask = 0xff >> (8 * size - effectiveBits);
  bytes[128 - size] = table(at(128 - size) & mask);
  for (let i = 127 - size; i >= 0; i--) bytes[i] = table(at(i + 1) ^ at(i + size));
  return Uint16Array.from({ length: 64 }, (_, word) => at(2 * word) | at(2 * word + 1) << 8);
}

const ROTATIONS = [1, 2, 3, 5];

/** Decrypts one block (RFC 2268, 4). */
function decryptBlock(key: Uint16Array, block: Uint8Array): Uint8Array {
  const view = new DataView(block.buffer, block.byteOffset, 8);
  const words = Uint16Array.from({ length: 4 }, (_, index) => view.getUint16(2 * index, true));
  const word = (index: number) => words[(index + 4) % 4] ?? 0;
  let next = 63;
  const mix = () => {
    for (let i = 3; i >= 0; i--) {
      const by = ROTATIONS[i] ?? 0;
      const rotated = (word(i) >> by | word(i) << (16 - by)) & 0xffff;
      words[i] = rotated - (key[next] ?? 0) - (word(i - 1) & word(i - 2)) - (~word(i - 1) & word(i - 3));
      next -= 1;
    }
  };
  const mash = () => {
    for (let i = 3; i >= 0; i--) words[i] = word(i) - (key[word(i - 1) & 63] ?? 0);
  };
  for (const rounds of [5, 6, 5]) {
    for (let round = 0; round < rounds; round++) mix();
    if (next >= 0) mash();
  }
  const result = new Uint8Array(8);
  const out = new DataView(result.buffer);
  words.forEach((value, index) => out.setUint16(2 * index, value, true));
  return result;
}

/** Permutation from the digits of pi (RFC 2268, 2). */
const PI_TABLE = Uint8Array.fromHex(
  "d978f9c419ddb5ed28e9fd794aa0d89dc67e37832b76538e624c6488448bfba2179a59f587b34f1361456d8d09817d32bd8f40eb86b77b0bf09521225c6b4e82" +
    "54d66593ce60b21c7356c014a78cf1dc1275ca1f3bbee4d1423dd430a33cb6266fbf0eda4669075727f21d9bbc944303f811c7f690ef3ee706c3d52fc8661ed7" +
    "08e8eade8052eef784aa72ac354d6a2a961ad2715a1549744b9fd05e0418a4ecc2e0416e0f51cbcc2491af50a1f47039997c3a8523b8b47afc02365b25559731" +
    "2d5dfa98e38a92ae05df2910676cbac9d300e6cfe19ea82c6316013f58e289a90d38341bab33ffb0bb480c5fb9b1cd2ec5f3db47e5a59c770aa62068fe7fc1ad",
);
