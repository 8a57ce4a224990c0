import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";
import { gzipSync } from "node:zlib";
import { MAIN_MODULE } from "./program.ts";

/** Room for the script at the head of the file, in bytes; a fixed size, since the script tells where the parts lie. */
const HEAD_BYTES = 8192;

/** Name of the runtime in the unpacked folder, and so of the process. */
const RUNTIME = "authserver";

/** Bytes of a block of a tar archive. */
const TAR_BLOCK = 512;

/** Name of the archive of the program's modules, which the script unpacks and removes. */
const ARCHIVE = "modules.tar";

/**
 * One executable file of the official runtime and a program: a shell script that unpacks, followed by gzip-compressed
 * parts. The same content gives the same bytes.
 */
export function packSelfExtracting({ version, target, runtime, program, flags }: {
  readonly version: string;
  /** For the reader of the script. */
  readonly target: string;
  readonly runtime: Uint8Array;
  /** Names and texts of modules, {@link MAIN_MODULE} among them. */
  readonly program: ReadonlyMap<string, string>;
  /** Command line flags of the runtime. */
  readonly flags: readonly string[];
}): Uint8Array {
  const encoder = new TextEncoder();
  const contents = [[RUNTIME, runtime], [ARCHIVE, tarArchive([...program].sort())]] as const;
  const parts = contents.map(([name, content]) => ({
    name,
    sha256: sha256(content),
    packed: gzipSync(content, { level: 6 }),
  }));
  const lines: string[] = [];
  let offset = HEAD_BYTES;
  for (const { name, packed, sha256 } of parts) {
    lines.push(`${name} ${offset + 1} ${packed.length} ${sha256}`); // tail -c counts from 1
    offset += packed.length;
  }
  const values: Readonly<Record<string, string>> = {
    VERSION: version,
    TARGET: target,
    ID: sha256(encoder.encode(parts.map(({ name, sha256 }) => `${sha256}  ${name}\n`).join(""))),
    PARTS: lines.join("\n"),
    FLAGS: flags.join(" "),
    MAIN: MAIN_MODULE,
    MODULES: ARCHIVE,
  };
  const script = encoder.encode(
    SCRIPT.replaceAll(/@([A-Z]+)@/g, (mark, name: string) => values[name] ?? mark),
  );
  if (script.length > HEAD_BYTES) throw new RangeError(`The script has more than ${HEAD_BYTES} bytes`);
  const file = new Uint8Array(offset).fill(10, 0, HEAD_BYTES); // line ends behind the script
  file.set(script);
  parts.reduce((at, { packed }) => (file.set(packed, at), at + packed.length), HEAD_BYTES);
  return file;
}

const SCRIPT = await Deno.readTextFile(new URL("./self_extracting.sh", import.meta.url));

/** Returns an archive of files in the format `ustar` of POSIX, with the same bytes for the same files. */
function tarArchive(files: readonly (readonly [name: string, text: string])[]): Uint8Array {
  const blocks = files.map(([name, text]) => {
    const content = Buffer.from(text);
    const block = Buffer.alloc(TAR_BLOCK + Math.ceil(content.length / TAR_BLOCK) * TAR_BLOCK);
    const octal = (value: number, digits: number) => value.toString(8).padStart(digits, "0");
    block.write(name);
    const [mode, owner, group, time] = [octal(0o600, 7), octal(0, 7), octal(0, 7), octal(0, 11)];
    block.write([mode, owner, group, octal(content.length, 11), time, " ".repeat(8)].join("\0"), 100);
    block.write("0", 156); // a regular file
    block.write("ustar\x0000", 257);
    const sum = block.subarray(0, TAR_BLOCK).reduce((sum, byte) => sum + byte, 0);
    block.write(`${octal(sum, 6)}\0 `, 148);
    content.copy(block, TAR_BLOCK);
    return block;
  });
  return Buffer.concat([...blocks, Buffer.alloc(2 * TAR_BLOCK)]);
}

function sha256(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}
