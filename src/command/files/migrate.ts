import { dirname, join } from "node:path";
import { CommandFailed, type CommandIo, defineCommand } from "../command.ts";
import type { ChangedLine } from "./migration/converted_text.ts";
import type { ConfigurationFile } from "./migration/java_installation.ts";

/** Where the copy goes. */
const CONF = "conf";

/** `authserver migrate`: a copy of the Java service's configuration that this service can start from. */
export const migrate = defineCommand({
  name: "migrate",
  summary: "Copy the configuration of a Java service into conf/, and say what it still needs",
  details: [
    "The folder is that of the Java service (with conf/ in it) or of its configuration, such as /etc/unicore/authserver. Nothing in it is changed, and nothing is overwritten: there must be no conf/ where it is copied to.",
    "Files beside the old conf/ that its container.properties names by a relative path, such as certs/, are copied to the same place here.",
    "Paths into the old configuration, and places that the old service writes to, are changed in the copy, and the changed lines shown. What needs a hand is named, with the command where there is one: Java key stores, XACML policies, MVEL expressions, shares in a database, certificates of X.509 version 1.",
    "Exit status: that of authserver check, which runs in the end.",
  ],
  examples: {
    "authserver migrate /opt/unicore-authserver": "From the Java service's archive",
    "authserver migrate /etc/unicore/authserver": "From its package, as an account that may read it",
  },
  operands: { folder: "Folder of the Java service, or of its configuration" },
  options: {
    directory: { value: "DIR", help: "Folder to make conf/ in, without it the working directory" },
  },
}, async (given, io) => {
  // Not before it is asked for: the process that runs a service has the commands in memory, too.
  const { findJavaInstallation, readFiles, readFilesBeside } = await import(
    "./migration/java_installation.ts"
  );
  const { needsAHand } = await import("./migration/by_hand.ts");
  const { check } = await import("../diagnosis/check.ts");
  const installation = await findJavaInstallation(given.operand("folder"));
  const { files, left } = await readFiles(installation.conf);
  const beside = await readFilesBeside(installation, await mainText(files));
  await enter(given.text("directory"));
  const copies = await Promise.all(files.map((file) => converted(file, installation.conf)));
  await write(copies.map(({ file }) => file));
  io.stdout(`${files.length} files copied from ${installation.conf} to ${CONF}\n`);
  for (const file of beside.files) io.stdout(await writeBeside(file));
  for (const path of [...left, ...beside.left]) io.stdout(`not copied: ${path}\n`);
  for (const { file, changes } of copies) printChanges(`${CONF}/${file.path}`, changes, io);
  const here = copies.map(({ file }) => ({ ...file, path: `${CONF}/${file.path}` }));
  const work = await needsAHand(installation, [...here, ...beside.files]);
  if (work.length > 0) io.stdout("\nNeeds a hand:\n");
  for (const { topic, what } of work) {
    io.stdout(`  ${topic}\n${what.map((line) => `    ${line}\n`).join("")}`);
  }
  io.stdout("\nauthserver check says:\n");
  return await check.run(["--config", `${CONF}/container.properties`], io);
});

async function mainText(files: readonly ConfigurationFile[]): Promise<string> {
  const { decodeProperties } = await import("../../config/properties.ts");
  const main = files.find(({ path }) => path === "container.properties");
  return decodeProperties(main?.content ?? new Uint8Array());
}

async function converted(
  file: ConfigurationFile,
  conf: string,
): Promise<{ readonly file: ConfigurationFile; readonly changes: readonly ChangedLine[] }> {
  if (!file.path.endsWith(".properties")) return { file, changes: [] };
  const { convertProperties } = await import("./migration/converted_text.ts");
  const { decodeProperties } = await import("../../config/properties.ts");
  const { text, changes } = convertProperties(decodeProperties(file.content), conf);
  // What needs no change stays byte for byte; the rest is UTF-8 from now on.
  return changes.length === 0
    ? { file, changes }
    : { file: { ...file, content: new TextEncoder().encode(text) }, changes };
}

/** Goes where the new service is to be started: paths in its configuration are relative to that. */
async function enter(folder: string | undefined): Promise<void> {
  if (folder === undefined) return;
  try {
    await Deno.mkdir(folder, { recursive: true });
    Deno.chdir(folder);
  } catch (error) {
    if (error instanceof Error) throw new CommandFailed(`${folder}: ${error.message}`, { cause: error });
    throw error;
  }
}

/** @throws {CommandFailed} If there is a folder already, or it cannot be written. */
async function write(files: readonly ConfigurationFile[]): Promise<void> {
  try {
    await Deno.mkdir(CONF, { mode: 0o755 });
    for (const file of files) await writeNew(join(CONF, file.path), file);
  } catch (error) {
    if (error instanceof Deno.errors.AlreadyExists) {
      throw new CommandFailed(`${CONF} is there already, expected a folder without one; nothing was changed`);
    }
    if (error instanceof Error) throw new CommandFailed(error.message, { cause: error });
    throw error;
  }
}

/** Writes a file that lay beside the old `conf/` to the same place here. @returns What became of it, a line. */
async function writeBeside(file: ConfigurationFile): Promise<string> {
  try {
    await writeNew(file.path, file);
    return `copied: ${file.path}\n`;
  } catch (error) {
    if (error instanceof Deno.errors.AlreadyExists) return `not copied: ${file.path}: is there already\n`;
    if (error instanceof Error) {
      throw new CommandFailed(`${file.path}: ${error.message}`, { cause: error });
    }
    throw error;
  }
}

async function writeNew(target: string, { mode, content }: ConfigurationFile): Promise<void> {
  await Deno.mkdir(dirname(target), { recursive: true, mode: 0o755 });
  await Deno.writeFile(target, content, { createNew: true, mode });
}

function printChanges(path: string, changes: readonly ChangedLine[], io: CommandIo): void {
  if (changes.length > 0) io.stdout(`\n${path}:\n`);
  for (const { line, before, after } of changes) io.stdout(`  ${line}: - ${before}\n  ${line}: + ${after}\n`);
}
