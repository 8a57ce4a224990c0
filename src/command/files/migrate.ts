import { dirname, join, resolve } from "node:path";
import { CommandFailed, type CommandIo, defineCommand, failedAt, type Given, MAIN_FILE } from "../command.ts";
import { installationFolder, prefixOf, SETUP_OPTIONS, writeNew } from "./installation/installation_folder.ts";
import { type ChangedLine, convertProperties, withGateway } from "./migration/converted_text.ts";
import { type ImportedShares, importJavaShares, quoted } from "./migration/java_shares.ts";
import { oldCertificates } from "./migration/old_certificates.ts";
import { importedReport } from "./share_database.ts";
import { exists } from "../../model/regular_file.ts";
import { decodeProperties, loadProperties } from "../../config/properties.ts";
import {
  type ConfigurationFile,
  findJavaInstallation,
  type JavaInstallation,
  readFiles,
  readFilesBeside,
} from "./migration/java_installation.ts";
import { check } from "../diagnosis/check.ts";
import { SYSTEM_INFO } from "../system_info.ts";

const CONF = "conf";

/** Command `authserver migrate`: copies the Java service's configuration in a form that this service can start from. */
export const migrate = defineCommand({
  name: "migrate",
  summary: "Copy configuration and shares of a Java service, and list the remaining steps",
  details: [
    "The folder is that of the Java service (containing conf/), or of its configuration, for example /etc/unicore/authserver. Unpack an archive first, where its configuration expects it. The command changes nothing in it and overwrites nothing: if conf/ exists already, it imports only the shares. It writes start and stop scripts to bin/.",
    "It also copies files outside the old conf/ that the configuration names by a relative path, for example certs/.",
    "It adapts paths in the copy. It lists changed lines, paths still leading to the old folder, and certificates of X.509 version 1, which need a replacement.",
    "It imports shares of a stopped Java service: from PostgreSQL directly; for H2 and MySQL it prints the command that dumps them, and imports the dump when you run migrate again. Existing shares stay unchanged, so you can repeat it.",
    "At the end it runs authserver check, which names the remaining steps, and returns its exit status.",
  ],
  operands: { folder: "Folder of the Java service, or of its configuration" },
  options: SETUP_OPTIONS,
}, async (given, io) => {
  const prefix = prefixOf(given);
  const operand = given.operand("folder");
  const again = `authserver migrate ${quoted(resolve(operand))}`;
  const installation = await findJavaInstallation(operand);
  const { files, left } = await readFiles(installation.conf);
  const beside = await readFilesBeside(installation);
  const folder = installationFolder(given);
  await enter(folder);
  const into = folder === undefined ? "" : ` --directory ${quoted(Deno.cwd())}`;
  const isKept = await exists(join(CONF, MAIN_FILE));
  const copiesOf = (files: readonly ConfigurationFile[], from: string, to: string) =>
    isKept ? [] : files.map((file) => copyOf(file, { from, to, old: installation }));
  const copies = copiesOf(files, installation.conf, CONF);
  if (!isKept) await write(copies);
  const besides = await Promise.all(copiesOf(beside.files, installation.root, "").map(writeBeside));
  const scripts = await writeScripts(prefix);
  const all = [...copies, ...besides.flatMap(({ copied }) => copied ?? [])];
  const done = {
    from: installation.conf,
    files: copies.length,
    beside: besides.flatMap(({ copied }) => copied?.path ?? []),
    left: isKept
      ? [`${CONF}: is there already and stays as it is`]
      : [...left, ...beside.left, ...besides.flatMap(({ left }) => left ?? [])],
    stillOld: await stillOld(installation),
    changes: all.flatMap(({ path, changes }) => changes.map((change) => ({ file: path, ...change }))),
    oldCertificates: oldCertificates(all, installation.properties),
    shares: await importJavaShares(installation, again + into),
    scripts,
  };
  if (!given.flag("json")) io.stdout(`${textOf(done)}\nauthserver check says:\n`);
  const { status, value } = await checkCopy(given, io);
  const { from, imported, left: leftShares = [] } = done.shares ?? {};
  const shares = { from, imported: imported && importedReport(imported).value, left: leftShares };
  return { value: { ...done, shares, check: value }, text: "", status };
});

interface Done {
  readonly from: string;
  readonly files: number;
  readonly beside: readonly string[];
  readonly left: readonly string[];
  readonly stillOld: readonly string[];
  readonly changes: readonly (ChangedLine & { readonly file: string })[];
  readonly oldCertificates: readonly string[];
  readonly shares: ImportedShares | undefined;
  readonly scripts: readonly string[];
}

function textOf(done: Done): string {
  const { from, files, beside, left, changes, oldCertificates, shares, scripts } = done;
  return [
    `${files} files copied from ${from} to ${CONF}\n`,
    ...beside.map((path) => `copied: ${path}\n`),
    ...left.map((path) => `not copied: ${path}\n`),
    ...done.stillOld.map((path) => `still in the old folder: ${path}\n`),
    ...scripts.map((path) => `written ${path}\n`),
    ...[...Map.groupBy(changes, ({ file }) => file)].flatMap(([file, lines]) => [
      `\n${file}:\n`,
      ...lines.map(({ line, before, after }) => `  ${line}: - ${before}\n  ${line}: + ${after}\n`),
    ]),
    oldCertificates.length > 0
      ? "\nCertificates of X.509 version 1, which prove nothing and are refused; have new ones issued:\n"
      : "",
    ...oldCertificates.map((line) => `  ${line}\n`),
    shares === undefined ? "" : sharesText(shares),
  ].join("");
}

function sharesText({ from, imported, left }: ImportedShares): string {
  const lines = [
    ...imported === undefined ? [] : importedReport(imported).text.trimEnd().split("\n"),
    ...left,
  ];
  return `\nShares, ${from}:\n${lines.map((line) => `  ${line}\n`).join("")}`;
}

/** Returns paths in the old folder that the copy uses, by variables or as absolute paths of files beside `conf/`. */
async function stillOld({ root }: JavaInstallation): Promise<readonly string[]> {
  const context = { ...SYSTEM_INFO, workingDirectory: Deno.cwd() };
  const { entries, files } = await loadProperties(join(CONF, MAIN_FILE), context, []);
  const used = new Set([...files, ...[...entries.values()].map(({ value }) => value.trim())]);
  return [...used].filter((path) => path.startsWith(`${root}/`) && !path.startsWith(`${Deno.cwd()}/`));
}

/** Runs `check` on the copy, which prints its findings, or returns them with `--json`. */
async function checkCopy(
  given: Pick<Given<"json", never>, "flag">,
  io: CommandIo,
): Promise<{ readonly status: number; readonly value: unknown }> {
  const args = ["--config", `${CONF}/${MAIN_FILE}`];
  if (!given.flag("json")) return { status: await check.run(args, io), value: undefined };
  let said = "";
  const status = await check.run([...args, "--json"], { ...io, stdout: (text) => void (said += text) });
  return { status, value: JSON.parse(said) };
}

/** @returns Paths of new files. */
async function writeScripts(prefix: string | undefined): Promise<readonly string[]> {
  const { scriptFiles, STARTUP_FILE } = await import("./installation/sample_file.ts");
  const written: string[] = [];
  for (const file of [STARTUP_FILE, ...scriptFiles(prefix)]) {
    if (await writeNew(file.path, file)) written.push(file.path);
  }
  return written;
}

/** File of the copy; `path` is relative to the new installation. */
interface Copy extends ConfigurationFile {
  readonly changes: readonly ChangedLine[];
}

/** Converts a file of the old folder `from` for the folder `to` of the copy. */
function copyOf(
  file: ConfigurationFile,
  { from, to, old }: { readonly from: string; readonly to: string; readonly old: JavaInstallation },
): Copy {
  const source = join(from, file.path);
  const copy = { ...file, path: join(to, file.path), changes: [] };
  if (!source.endsWith(".properties") && !old.properties.files.includes(source)) return copy;
  const converted = convertProperties(decodeProperties(file.content), old);
  const { text, changes } = source === old.properties.mainFile ? withGateway(converted, old) : converted;
  // Unchanged files stay byte for byte; others become UTF-8.
  return changes.length === 0 ? copy : { ...copy, content: new TextEncoder().encode(text), changes };
}

/** Enters the working directory of the new service, whose configuration has relative paths. */
async function enter(folder: string | undefined): Promise<void> {
  if (folder === undefined) return;
  try {
    await Deno.mkdir(folder, { recursive: true });
    Deno.chdir(folder);
  } catch (error) {
    failedAt(folder, error);
  }
}

async function write(files: readonly Copy[]): Promise<void> {
  try {
    await Deno.mkdir(CONF, { mode: 0o755 });
  } catch (error) {
    if (error instanceof Deno.errors.AlreadyExists) {
      throw new CommandFailed(`${CONF} is there already, expected a folder without one; nothing was changed`);
    }
    failedAt(CONF, error);
  }
  try {
    for (const file of files) await writeCopy(file);
  } catch (error) {
    await Deno.remove(CONF, { recursive: true }).catch(() => {}); // else the next run would accept half a copy as complete
    failedAt(CONF, error);
  }
}

/** Writes a file from beside the old `conf/`. @returns The file, or why it was skipped. */
async function writeBeside(file: Copy): Promise<{ readonly copied?: Copy; readonly left?: string }> {
  try {
    await writeCopy(file);
    return { copied: file };
  } catch (error) {
    if (error instanceof Deno.errors.AlreadyExists) return { left: `${file.path}: is there already` };
    failedAt(file.path, error);
  }
}

async function writeCopy({ path, mode, content }: Copy): Promise<void> {
  await Deno.mkdir(dirname(path), { recursive: true, mode: 0o755 });
  await Deno.writeFile(path, content, { createNew: true, mode });
}
