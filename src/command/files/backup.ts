import { dirname, resolve } from "node:path";
import type { DatabaseConfig } from "../../config/service_config.ts";
import { counted } from "../../model/text.ts";
import { readRegularFile, unlessAbsent } from "../../model/regular_file.ts";
import { VERSION } from "../../service/version.ts";
import { copyDatabase } from "../../store/sqlite_database.ts";
import { CommandFailed, defineCommand, tell } from "../command.ts";
import { configFile, unusableConfiguration } from "../config_option.ts";
import { inspect } from "../diagnosis/inspect.ts";
import { copyOf, DATABASES, digestOf, MANIFEST, type Manifest } from "./backup_manifest.ts";

const NEW = { mode: 0o600, createNew: true };

/** Command `authserver backup`. */
export const backup = defineCommand({
  name: "backup",
  summary: "Copy configuration, keys, users and data into a new folder, while the service runs",
  details: [
    "Copies all files that the configuration names, and a consistent copy of each SQLite database. With PostgreSQL, prints the command that dumps the database. The folder has mode 700, its files 600: they contain keys and secrets. manifest.json lists them with owners, modes and digests, and the version.",
    "Run it as root or as the account of the service. authserver restore puts everything back.",
  ],
  operands: { folder: "New folder for the copy" },
  options: {},
}, async (given, io) => {
  const folder = resolve(given.operand("folder"));
  const main = resolve(await configFile(given));
  const { snapshot, dependsOn, diagnostics } = await inspect(main);
  if (snapshot === undefined) throw unusableConfiguration(main, diagnostics);
  const { directory, database } = snapshot.config.sharing;
  const files = [...new Set(dependsOn.map((path) => resolve(path)))];
  const isFile = await Promise.all(files.map(async (path) => (await unlessAbsent(Deno.stat(path)))?.isFile));
  try {
    await Deno.mkdir(folder, { mode: 0o700 });
  } catch (cause) {
    throw new CommandFailed(`Expected a new folder in an existing one, found ${folder}: ${cause}`, { cause });
  }
  const made = new Date().toISOString();
  const { dump, load } = database === undefined ? {} : postgresCommands(folder, database);
  const copied: Manifest["files"][number][] = [];
  try {
    for (const path of files.filter((_, i) => isFile[i])) {
      const bytes = await readRegularFile(path);
      copied.push(await copyOne(folder, path, (copy) => Deno.writeFile(copy, bytes, NEW)));
    }
    for (const path of directory === undefined ? [] : await databasesIn(resolve(directory))) {
      copied.push(await copyOne(folder, path, (copy) => copyDatabase(path, copy)));
    }
    const manifest: Manifest = {
      format: 1,
      version: VERSION,
      made,
      configuration: main,
      files: copied,
      load,
    };
    await Deno.writeTextFile(`${folder}/${MANIFEST}`, JSON.stringify(manifest, undefined, 2), NEW);
  } catch (cause) {
    await Deno.remove(folder, { recursive: true });
    throw new CommandFailed(`Nothing copied: ${cause instanceof Error ? cause.message : cause}`, { cause });
  }
  const text = `${counted(copied.length, "file", "files")} of version ${VERSION} copied to ${folder}\n${
    dump === undefined ? "" : `Add the database: ${dump}\n`
  }`;
  tell(given, io, { value: { folder, files: copied.map(({ path }) => path), dump }, text });
  return 0;
});

async function databasesIn(directory: string): Promise<readonly string[]> {
  const paths = [...DATABASES.keys()].map((name) => `${directory}/${name}`);
  const there = await Promise.all(paths.map((path) => unlessAbsent(Deno.stat(path))));
  return paths.filter((_, i) => there[i]);
}

async function copyOne(folder: string, path: string, make: (copy: string) => Promise<void>) {
  const copy = copyOf(folder, path);
  await Deno.mkdir(dirname(copy), { recursive: true, mode: 0o700 });
  await make(copy);
  const { mode, uid, gid } = await Deno.stat(path);
  return { path, mode: (mode ?? 0o600) & 0o777, uid: uid ?? 0, gid: gid ?? 0, sha256: await digestOf(copy) };
}

function postgresCommands(folder: string, { servers, database, user }: DatabaseConfig) {
  const hosts = servers.map(({ host }) => host).join(",");
  const ports = servers.map(({ port }) => port).join(",");
  const file = `'${folder.replaceAll("'", `'\\''`)}/postgres.dump'`;
  const at = `--dbname "host=${hosts} port=${ports} user=${user} dbname=${database}"`;
  return {
    dump: `pg_dump --format=custom --schema=authserver --file=${file} ${at}`,
    load: `pg_restore --clean --if-exists --single-transaction ${at} ${file}`,
  };
}
