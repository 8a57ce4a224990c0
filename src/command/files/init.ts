import { join } from "node:path";
import {
  CommandFailed,
  type CommandIo,
  defineCommand,
  type Given,
  printResult,
  WrongUsage,
} from "../command.ts";
import { installationFolder, prefixOf, SETUP_OPTIONS, writeNew } from "./installation/installation_folder.ts";
import { exists } from "../../model/regular_file.ts";
import type { SampleFile } from "./installation/sample_file.ts";

/** Command `authserver init`: installs sample files from the executable. */
export const init = defineCommand({
  name: "init",
  summary:
    "Write an initial configuration; with --system also the files for systemd; with --try also start the service",
  details: [
    "Without --system: writes container.properties, startup.properties, users.txt, ssh-keys.txt and mapfile.json to conf/, and the start, stop and status scripts to bin/.",
    "With --system: writes container.properties, users.txt, ssh-keys.txt and mapfile.json to /etc/authserver with system paths, the systemd unit with its user and folders, and settings for logrotate and fail2ban. The packages contain these files already.",
    "With --try: writes a working configuration for the loopback interface with a user and certificates valid for 30 days, then runs the service until you stop it. The folder must not contain a configuration.",
    "Existing files stay unchanged.",
  ],
  operands: {},
  options: {
    system: { help: "Write to the system directories, as root" },
    ...SETUP_OPTIONS,
    directory: {
      value: "DIR",
      help: "Folder to write to (default: the working directory; with --system: /)",
    },
    try: { help: "Create temporary certificates and a user, and start the service" },
    port: { value: "PORT", help: "Port to listen on, with --try (default: 9000)" },
  },
}, async (given, io) => {
  if (given.flag("try")) return await tryOut(given, io);
  if (given.text("port") !== undefined) throw new WrongUsage("Expected --port with --try only");
  // Imported on use: when run from source, these are the files in `conf/`, which an installation may lack.
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
  const next = system ? SYSTEM_STEPS : folderSteps(folder, prefix);
  return {
    value: { files, next },
    text: `${linesOf(files)}\nNext:\n${next.map((step) => `  ${step}\n`).join("")}`,
  };
});

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
    if (!await exists(join(folder, path))) continue;
    throw new CommandFailed(
      `${join(folder, path)} exists already, expected a folder without a configuration`,
    );
  }
  const files = await writeFiles(folder, site.files);
  Deno.chdir(folder); // base of relative paths in the configuration
  const authority = join(Deno.cwd(), TRIAL_AUTHORITY);
  const url = `https://${site.host}:${port}/rest/auth`;
  printResult(given, io, {
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

function folderSteps(folder: string, prefix?: string): readonly string[] {
  return [
    `edit ${join(folder, "conf/container.properties")}: certificates and servers`,
    ...folder === "." ? [] : [`cd ${folder}`],
    "authserver passwd add NAME --dn DN",
    "authserver check --online",
    `authserver, or in the background bin/${prefix === undefined ? "" : `${prefix}-`}authserver-start.sh`,
  ];
}

const SYSTEM_STEPS = [
  "edit /etc/authserver/container.properties: certificates and servers",
  "systemd-sysusers && systemd-tmpfiles --create",
  "authserver check --online",
  "systemctl daemon-reload && systemctl enable --now authserver",
];
