import { dirname, join } from "node:path";
import { CommandFailed, type CommandIo, defineCommand } from "../command.ts";
import type { SampleFile } from "./installation/sample_file.ts";

/** `authserver init`: whoever has only the program gets the rest from it. */
export const init = defineCommand({
  name: "init",
  summary: "Write a configuration to start from, and with --system all that systemd needs",
  details: [
    "Without --system: container.properties, users.txt, ssh-keys.txt and mapfile.json in the folder conf.",
    "With --system: these in /etc/authserver, with paths of the system; the systemd unit and its user and folders; settings of logrotate and fail2ban. What the Debian package brings, this need not write.",
    "Files that are there already stay as they are.",
  ],
  operands: {},
  options: {
    system: { help: "Write to the places of the system, as root" },
    directory: {
      value: "DIR",
      help: "Folder to write to, without it the working directory; with --system the root of the system (/)",
    },
  },
}, async (given, io) => {
  // Not before it is asked for: from source these are the files in `conf/`, which an installation may be without.
  const { FOLDER_FILES, systemFiles } = await import("./installation/sample_file.ts");
  const system = given.flag("system");
  const folder = given.text("directory") ?? (system ? "/" : ".");
  for (const file of system ? systemFiles("administrator") : FOLDER_FILES) {
    const path = join(folder, file.path);
    io.stdout(`${await writeNew(path, file)} ${path}\n`);
  }
  sayNext(io, system ? SYSTEM_STEPS : folderSteps(folder));
  return 0;
});

/** @returns What became of it, as the first word of a line. @throws {CommandFailed} */
async function writeNew(path: string, { mode, text }: SampleFile): Promise<string> {
  try {
    if (await isThere(path)) return "kept   ";
    await Deno.mkdir(dirname(path), { recursive: true });
    await Deno.writeTextFile(path, text, { createNew: true, mode });
    await Deno.chmod(path, mode); // whatever the umask is
    return "written";
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    throw new CommandFailed(`${path}: ${error.message}`, { cause: error });
  }
}

/** Also a link that leads nowhere is there. */
async function isThere(path: string): Promise<boolean> {
  try {
    await Deno.lstat(path);
    return true;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}

function folderSteps(folder: string): readonly string[] {
  const enter = folder === "." ? [] : [`cd ${folder}`];
  return [
    `edit ${join(folder, "conf/container.properties")}: certificates and servers`,
    ...enter,
    "authserver passwd add NAME --dn DN",
    "authserver check --online",
    "authserver",
  ];
}

const SYSTEM_STEPS = [
  "edit /etc/authserver/container.properties: certificates and servers",
  "systemd-sysusers && systemd-tmpfiles --create",
  "authserver check --online",
  "systemctl daemon-reload && systemctl enable --now authserver",
];

function sayNext(io: CommandIo, steps: readonly string[]): void {
  io.stdout(`\nNext:\n${steps.map((step) => `  ${step}\n`).join("")}`);
}
