import { gunzipSync } from "node:zlib";
import { basename, dirname, join } from "node:path";
import { decodeProperties } from "../../../config/properties.ts";
import { CommandFailed } from "../../command.ts";
import { MAIN_FILE } from "../../configuration_places.ts";
import { InvalidArchive, tarEntries, type TarEntry } from "./tar_entries.ts";

interface Unpacked {
  /** Folder of the main configuration file, relative to the target. */
  readonly conf: string;
  /** Absolute path by which the configuration names that folder. */
  readonly formerConf?: string;
}

/** Only their names matter here. */
const LEFT_EMPTY = /\.(?:jar|war|zip|mv\.db|h2\.db|log)$/;

/**
 * Unpacks a `.tar.gz` of the Java service's folder or configuration; skips links. @param into Empty folder.
 * @throws {CommandFailed} If it is unreadable, leads out of the folder, or has no unique configuration.
 */
export async function unpackArchive(archive: string, into: string): Promise<Unpacked> {
  const found: string[] = [];
  for (const { path, mode, content } of await entriesOf(archive)) {
    if (path.split("/").some((part) => part === "" || part === "." || part === "..")) {
      throw new CommandFailed(`${archive}: ${path} is no path below a folder, unpack it and give its folder`);
    }
    const target = join(into, path);
    await Deno.mkdir(dirname(target), { recursive: true });
    await Deno.writeFile(target, LEFT_EMPTY.test(path) ? new Uint8Array() : content, { mode: 0o600 });
    await Deno.chmod(target, mode | 0o400);
    if (basename(path) === MAIN_FILE) found.push(dirname(path));
  }
  const conf = outermost(archive, found);
  const text = decodeProperties(await Deno.readFile(join(into, conf, MAIN_FILE)));
  const formerConf = placeNamedIn(text, conf);
  return { conf, formerConf };
}

/** Unpacked bytes: the Java service's archive has some 60 MB. */
const MAX_UNPACKED = 1024 * 1024 * 1024;

async function entriesOf(archive: string): Promise<readonly TarEntry[]> {
  try {
    const { size } = await Deno.stat(archive);
    if (size > MAX_UNPACKED) throw new InvalidArchive(`it is larger than ${MAX_UNPACKED} bytes`);
    const packed = await Deno.readFile(archive);
    return [...tarEntries(gunzipSync(packed, { maxOutputLength: MAX_UNPACKED }))];
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    throw new CommandFailed(`${archive} cannot be read as a .tar.gz: ${error.message}`, { cause: error });
  }
}

function outermost(archive: string, folders: readonly string[]): string {
  const depth = (folder: string) => folder.split("/").length;
  const [folder, another] = folders.toSorted((a, b) => depth(a) - depth(b));
  if (folder === undefined) {
    throw new CommandFailed(
      `Expected ${MAIN_FILE} in ${archive}, as in an archive of the Java service's folder`,
    );
  }
  if (another === undefined || depth(another) > depth(folder)) return folder;
  throw new CommandFailed(
    `${archive} has several installations, unpack it and give one of them: ${folders.join(", ")}`,
  );
}

/** First absolute path in a text that ends as the folder does: its place when the archive was made. */
function placeNamedIn(text: string, folder: string): string | undefined {
  for (const line of text.split("\n")) {
    const end = /^\s*[#!]/.test(line) ? -1 : line.indexOf(`/${folder}/`);
    if (end < 0) continue;
    const start = Math.max(...["=", " ", ",", ";", '"'].map((before) => line.lastIndexOf(before, end))) + 1;
    if (line[start] === "/") return line.slice(start, end + folder.length + 1);
  }
  return undefined;
}
