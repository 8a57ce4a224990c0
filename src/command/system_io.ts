import { Buffer, isUtf8 } from "node:buffer";
import { writeSync } from "node:fs";
import process from "node:process";
import { createInterface } from "node:readline";
import { Writable } from "node:stream";
import { CommandFailed, type CommandIo } from "./command.ts";
import { attempt } from "../model/attempt.ts";
import { isJournal, messagesForJournal } from "../logging/line_forms.ts";
import { SYSTEM_INFO } from "./system_info.ts";

const MAX_INPUT = 64 * 1024; // bytes

/** Standard streams and terminal of the process. Text that standard error does not accept is lost. */
export const SYSTEM_IO: CommandIo = {
  stdout: (text) => attempt(() => writeAll(1, text), Error, endUnwritten),
  stderr: (text) => attempt(() => writeAll(2, forStandardError(text)), Error, () => {}),
  readInput,
  askSecret,
};

let journal: boolean | undefined; // cached: a running service drops its permission for the environment

function forStandardError(text: string): string {
  journal ??= isJournal(2, SYSTEM_INFO.environment);
  return journal ? messagesForJournal(text) : text;
}

function writeAll(stream: number, text: string): void {
  const bytes = new TextEncoder().encode(text);
  for (let written = 0; written < bytes.length;) written += writeSync(stream, bytes, written);
}

/** Ends the command: quietly, as by SIGPIPE, if the reader has gone (`| head`). */
function endUnwritten(error: Error): never {
  if (error instanceof Deno.errors.BrokenPipe) Deno.exit(141);
  SYSTEM_IO.stderr(`authserver: Cannot write to standard output: ${error.message}\n`);
  Deno.exit(1);
}

async function readInput(): Promise<string> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of Deno.stdin.readable) {
    chunks.push(chunk);
    length += chunk.length;
    if (length > MAX_INPUT) throw new CommandFailed(`Expected at most ${MAX_INPUT} bytes on standard input`);
  }
  const bytes = Buffer.concat(chunks);
  if (!isUtf8(bytes)) throw new CommandFailed("Expected UTF-8 text");
  return new TextDecoder().decode(bytes);
}

async function askSecret(question: string): Promise<string | undefined> {
  if (!Deno.stdin.isTerminal()) return undefined;
  try {
    // Asks after the echo is off: a fast answer must not be visible either.
    return await readSecretLine(process.stdin, () => writeAll(2, question));
  } finally {
    writeAll(2, "\n");
  }
}

/** Reads a line with the keys of a terminal, without echo. @param began Called when the echo is off. @throws {CommandFailed} */
export async function readSecretLine(input: NodeJS.ReadableStream, began = () => {}): Promise<string> {
  const output = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({ input, output, terminal: true, historySize: 0 });
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const cancel = () => reject(new CommandFailed("Cancelled"));
  lines.once("line", resolve).once("SIGINT", cancel).once("close", cancel);
  began();
  const line = await promise.finally(() => lines.close());
  if (line.includes("\ufffd")) throw new CommandFailed("Expected UTF-8 text");
  return line;
}
