import { createHash } from "node:crypto";
import { resolve } from "node:path";
import { isJsonObject } from "../../authentication/json_object.ts";
import { VERSION } from "../../service/version.ts";
import { SHARE_DATABASE, SHARE_SCHEMA } from "../../sharing/store/schema.ts";
import { RECORD_DATABASE, RECORD_SCHEMA } from "../../store/sqlite_record_store.ts";
import { CommandFailed } from "../command.ts";

/** Name of the manifest in a backup. */
export const MANIFEST = "manifest.json";

/** Copied file. */
interface BackupFile {
  readonly path: string; // absolute, of the original
  readonly mode: number;
  readonly uid: number;
  readonly gid: number;
  readonly sha256: string;
}

/** Contents of a backup. */
export interface Manifest {
  readonly format: 1;
  readonly version: string; // of the service that made it
  readonly made: string; // ISO 8601
  readonly configuration: string; // absolute path of the main file
  readonly files: readonly BackupFile[];
  readonly load?: string; // command that restores the dump of PostgreSQL
}

/** Returns the path of a file's copy. */
export function copyOf(backup: string, path: string): string {
  return `${backup}/files${path}`;
}

/** Returns the SHA-256 of a file in hexadecimal. */
export async function digestOf(path: string): Promise<string> {
  const hash = createHash("sha256");
  const file = await Deno.open(path);
  for await (const bytes of file.readable) hash.update(bytes);
  return hash.digest("hex");
}

/** Schemas of the SQLite databases by file name. */
export const DATABASES = new Map([[SHARE_DATABASE, SHARE_SCHEMA], [RECORD_DATABASE, RECORD_SCHEMA]]);

/** Reads the manifest of a backup. @throws {CommandFailed} If it is missing, damaged, or of a later version. */
export async function readManifest(backup: string): Promise<Manifest> {
  const file = `${backup}/${MANIFEST}`;
  let found: unknown;
  try {
    found = JSON.parse(await Deno.readTextFile(file));
  } catch (cause) {
    throw new CommandFailed(`${file}: not the manifest of a backup: ${cause}`, { cause });
  }
  const { format, version, configuration, files, made, load } = isJsonObject(found) ? found : {};
  if (format !== 1 || typeof version !== "string" || isNewer(version)) {
    throw new CommandFailed(
      `${file}: made by version ${version} (format ${format}), which this version ${VERSION} does not know`,
    );
  }
  if (!isPath(configuration) || !Array.isArray(files) || files.length === 0 || !files.every(isFile)) {
    throw new CommandFailed(`${file}: damaged`);
  }
  const texts = { made: String(made), load: typeof load === "string" ? load : undefined };
  return { format, version, configuration, files, ...texts };
}

function isFile(found: unknown): found is BackupFile {
  if (!isJsonObject(found)) return false;
  const { path, mode, uid, gid, sha256 } = found;
  return isPath(path) && [mode, uid, gid].every((number) => Number.isSafeInteger(number)) &&
    typeof sha256 === "string" && /^[0-9a-f]{64}$/.test(sha256);
}

/** Accepts only absolute paths without `..`, which cannot lead out of the backup. */
function isPath(found: unknown): found is string {
  return typeof found === "string" && found.startsWith("/") && resolve(found) === found;
}

function isNewer(version: string): boolean {
  const [theirs, ours] = [version, VERSION].map((text) =>
    text.split(/[.-]/).slice(0, 3).map((part) => part.padStart(9, "0")).join(".")
  );
  return theirs === undefined || ours === undefined || theirs > ours;
}
