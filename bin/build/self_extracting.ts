import { createHash } from "node:crypto";
import { gzipSync } from "node:zlib";
import { MAIN_MODULE } from "./program.ts";

/** Room for the script at the head of the file, in bytes; a fixed size, since the script tells where the parts lie. */
const HEAD_BYTES = 8192;

/** Name of the runtime in the unpacked folder, and so of the process. */
const RUNTIME = "authserver";

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
  const contents = [
    [RUNTIME, runtime] as const,
    ...[...program].sort().map(([name, text]) => [name, encoder.encode(text)] as const),
  ];
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

function sha256(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}
