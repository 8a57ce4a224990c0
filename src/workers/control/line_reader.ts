import { writeAll } from "../../model/regular_file.ts";

/** Error for a line that is too long, cut off, or not UTF-8. */
export class InvalidLine extends Error {}

/** Reads one line of UTF-8 without its end, of at most `maxBytes`. @throws {InvalidLine} */
export async function readLine(connection: Pick<Deno.Conn, "read">, maxBytes: number): Promise<string> {
  const chunks: Uint8Array[] = [];
  const buffer = new Uint8Array(64 * 1024);
  for (let length = 0; length <= maxBytes;) {
    const count = await connection.read(buffer);
    if (count === null) throw new InvalidLine("the line is cut off");
    const end = buffer.subarray(0, count).indexOf(0x0a);
    const taken = buffer.slice(0, end < 0 ? count : end);
    chunks.push(taken);
    length += taken.length;
    if (end >= 0 && length <= maxBytes) return decode(chunks);
  }
  throw new InvalidLine(`the line is longer than ${maxBytes} bytes`);
}

function decode(chunks: readonly Uint8Array[]): string {
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  try {
    return chunks.map((chunk) => decoder.decode(chunk, { stream: true })).join("") + decoder.decode();
  } catch {
    throw new InvalidLine("the line is not UTF-8");
  }
}

/** Writes a whole line. */
export async function writeLine(connection: Pick<Deno.Conn, "write">, line: string): Promise<void> {
  await writeAll(connection, new TextEncoder().encode(`${line}\n`));
}
