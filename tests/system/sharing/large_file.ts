import { createHash } from "node:crypto";

const MB = 1000 * 1000;

/** Writes a file without repetitions. @param size Bytes, a multiple of a million. @returns Its SHA-256. */
export async function largeFile(path: string, size: number): Promise<string> {
  const hash = createHash("sha256");
  using file = await Deno.open(path, { write: true, create: true });
  const block = new Uint32Array(MB / 4);
  for (let i = 0; i < size / MB; i++) {
    for (let j = 0; j < block.length; j++) block[j] = Math.imul(i * block.length + j + 1, 2654435761);
    const bytes = new Uint8Array(block.buffer);
    hash.update(bytes);
    for (let at = 0; at < bytes.length;) at += await file.write(bytes.subarray(at));
  }
  return hash.digest("hex");
}

/** Returns the SHA-256 of a file. */
export async function digestOf(path: string): Promise<string> {
  const hash = createHash("sha256");
  using file = await Deno.open(path);
  for await (const chunk of file.readable) hash.update(chunk);
  return hash.digest("hex");
}
