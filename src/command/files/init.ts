import { dirname, join } from "node:path";
import { unlessAbsent } from "../../model/unless_absent.ts";
import { CommandFailed, type CommandIo, defineCommand, type Given, WrongUsage } from "../command.ts";
import type { SampleFile } from "./installation/sample_file.ts";

/** `authserver init`: whoever has only the program gets the rest from it. */
export const init = defineCommand({
  name: "init",
  summary: "Write a configuration to start from; with --system all that systemd needs, with --try run it",
  details: [
    "Without --system: container.properties, users.txt, ssh-keys.txt and mapfile.json in the folder conf.",
    "With --system: these in /etc/authserver, with paths of the system; the systemd unit and its user and folders; settings of logrotate and fail2ban. What the Debian package brings, this need not write.",
    "With --try: a configuration that works at once, on the loopback interface alone, with a user and with certificates that end after 30 days; then the service runs until it is told to stop. The folder must not have a configuration yet.",
    "Files that are there already stay as they are.",
  ],
  examples: {
    "authserver init --try": "From an empty folder to a service that answers",
    "authserver init --system": "What an installation with systemd needs, as root",
  },
  operands: {},
  options: {
    system: { help: "Write to the places of the system, as root" },
    directory: {
      value: "DIR",
      help: "Folder to write to, without it the working directory; with --system the root of the system (/)",
    },
    try: { help: "Make throw-away certificates and a user, and start the service" },
    port: { value: "PORT", help: "Port to listen on, with --try (default: 9000)" },
  },
}, async (given, io) => {
  if (given.flag("try")) return await tryOut(given, io);
  if (given.text("port") !== undefined) throw new WrongUsage("Expected --port with --try only");
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

/** Writes a site that needs nothing else, says how to ask it, and serves it. */
async function tryOut(given: Given<"system" | "directory" | "port", never>, io: CommandIo): Promise<number> {
  const port = given.text("port") ?? "9000";
  const folder = given.text("directory") ?? ".";
  if (given.flag("system")) throw new WrongUsage("Expected --try or --system, found both");
  if (!/^\d{1,5}$/.test(port) || Number(port) > 65_535) {
    throw new WrongUsage(`Expected a port number up to 65535 behind --port, found ${JSON.stringify(port)}`);
  }
  const { createTrialSite, TRIAL_AUTHORITY } = await import("./trial/trial_site.ts");
  const { files, user, password, host } = await createTrialSite(port, Date.now());
  for (const { path } of files) {
    if (!await isThere(join(folder, path))) continue;
    throw new CommandFailed(
      `${join(folder, path)} is there already, expected a folder without a configuration`,
    );
  }
  for (const file of files) {
    const path = join(folder, file.path);
    io.stdout(`${await writeNew(path, file)} ${path}\n`);
  }
  Deno.chdir(folder); // which the paths in the configuration are relative to
  io.stdout(`
User ${user}, password ${password}. Ask the service from another terminal:
  curl --cacert ${join(Deno.cwd(), TRIAL_AUTHORITY)} -u ${user}:${password} https://${host}:${port}/rest/auth
The server TEST is down as long as there is no transfer daemon. Ctrl-C ends the service, authserver in this
folder starts it again.

`);
  const { serve } = await import("../serving/serve.ts");
  return await serve.run([], io);
}

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
  return await unlessAbsent(Deno.lstat(path)) !== undefined;
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
