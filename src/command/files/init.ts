import { join } from "node:path";
import { CommandFailed, type CommandIo, defineCommand, tell } from "../command.ts";
import { type Given, WrongUsage } from "../arguments.ts";
import { FOLDER_OPTIONS, installationFolder } from "./installation/installation_folder.ts";
import { PREFIX_OPTION, prefixOf } from "./installation/scripts_prefix.ts";
import { isThere, writeNew } from "./installation/write_new.ts";
import type { SampleFile } from "./installation/sample_file.ts";

/** Command `authserver init`: installs sample files from the executable. */
export const init = defineCommand({
  name: "init",
  summary: "Write a configuration to start from; with --system all that systemd needs, with --try run it",
  details: [
    "Without --system: container.properties, startup.properties, users.txt, ssh-keys.txt and mapfile.json in the folder conf; in bin the scripts that start and stop the service and say whether it runs.",
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
    ...FOLDER_OPTIONS,
    directory: {
      value: "DIR",
      help: "Folder to write to, without it the working directory; with --system the root of the system (/)",
    },
    "scripts-prefix": PREFIX_OPTION,
    try: { help: "Make throw-away certificates and a user, and start the service" },
    port: { value: "PORT", help: "Port to listen on, with --try (default: 9000)" },
  },
  json: {
    "files[].path": "A file",
    "files[].written": "Whether it was written; if not, it was there and stays as it is",
    "next[]?": "What to do next, a line each; missing with --try",
    "user?": "With --try: the user who was made",
    "password?": "Their password",
    "url?": "Where the service answers, which now runs and prints what authserver serve --json does",
    "authority?": "File with the certificate of its authority",
  },
}, async (given, io) => {
  if (given.flag("try")) return await tryOut(given, io);
  if (given.text("port") !== undefined) throw new WrongUsage("Expected --port with --try only");
  // Imported on use: from source they are the files in `conf/`, which an installation may lack.
  const { FOLDER_FILES, scriptFiles, STARTUP_FILE, systemFiles } = await import(
    "./installation/sample_file.ts"
  );
  const system = given.flag("system");
  if (system && given.text("config") !== undefined) {
    throw new WrongUsage("Expected --config without --system");
  }
  const prefix = prefixOf(given);
  if (system && prefix !== undefined) throw new WrongUsage("Expected --scripts-prefix without --system");
  const folder = installationFolder(given) ?? (system ? "/" : ".");
  const wanted = system
    ? systemFiles("administrator")
    : [...FOLDER_FILES, STARTUP_FILE, ...scriptFiles(prefix)];
  const files = await writeFiles(folder, wanted);
  const next = system ? SYSTEM_STEPS : folderSteps(folder);
  tell(given, io, {
    value: { files, next },
    text: `${linesOf(files)}\nNext:\n${next.map((step) => `  ${step}\n`).join("")}`,
  });
  return 0;
});

/** Writes a trial site, prints how to call it, and serves it. */
async function tryOut(
  given: Given<"system" | "directory" | "config" | "scripts-prefix" | "port" | "json", never>,
  io: CommandIo,
): Promise<number> {
  const port = given.text("port") ?? "9000";
  const folder = installationFolder(given) ?? ".";
  if (given.flag("system")) throw new WrongUsage("Expected --try or --system, found both");
  if (!/^\d{1,5}$/.test(port) || Number(port) > 65_535) {
    throw new WrongUsage(`Expected a port number up to 65535 behind --port, found ${JSON.stringify(port)}`);
  }
  const { createTrialSite, TRIAL_AUTHORITY } = await import("./trial/trial_site.ts");
  const site = await createTrialSite(port, Date.now(), prefixOf(given));
  const { user, password } = site;
  for (const { path } of site.files) {
    if (!await isThere(join(folder, path))) continue;
    throw new CommandFailed(
      `${join(folder, path)} is there already, expected a folder without a configuration`,
    );
  }
  const files = await writeFiles(folder, site.files);
  Deno.chdir(folder); // which the paths in the configuration are relative to
  const authority = join(Deno.cwd(), TRIAL_AUTHORITY);
  const url = `https://${site.host}:${port}/rest/auth`;
  tell(given, io, {
    value: { files, user, password, url, authority },
    text: `${linesOf(files)}
User ${user}, password ${password}. Ask the service from another terminal:
  curl --cacert ${authority} -u ${user}:${password} ${url}
The server TEST is down as long as there is no transfer daemon. Ctrl-C ends the service, authserver in this
folder starts it again.

`,
  });
  const { serve } = await import("../serving/serve.ts");
  return await serve.run(given.flag("json") ? ["--json"] : [], io);
}

interface Outcome {
  readonly path: string;
  readonly written: boolean;
}

async function writeFiles(folder: string, files: readonly SampleFile[]): Promise<readonly Outcome[]> {
  const outcomes: Outcome[] = [];
  for (const file of files) {
    const path = join(folder, file.path);
    outcomes.push({ path, written: await writeNew(path, file) });
  }
  return outcomes;
}

function linesOf(files: readonly Outcome[]): string {
  return files.map(({ path, written }) => `${written ? "written" : "kept   "} ${path}\n`).join("");
}

function folderSteps(folder: string): readonly string[] {
  const enter = folder === "." ? [] : [`cd ${folder}`];
  return [
    `edit ${join(folder, "conf/container.properties")}: certificates and servers`,
    ...enter,
    "authserver passwd add NAME --dn DN",
    "authserver check --online",
    "authserver, or in the background bin/authserver-start.sh",
  ];
}

const SYSTEM_STEPS = [
  "edit /etc/authserver/container.properties: certificates and servers",
  "systemd-sysusers && systemd-tmpfiles --create",
  "authserver check --online",
  "systemctl daemon-reload && systemctl enable --now authserver",
];
