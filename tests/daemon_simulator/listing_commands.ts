import { readdirSync } from "node:fs";
import { posix } from "node:path";
import type { Command } from "./commands.ts";
import { existing, FileInfo, INACCESSIBLE } from "./file_info.ts";
import { pathOf } from "./parameters.ts";
import { PythonError, splitOnce, withPaths } from "./python_text.ts";
import type { Session } from "./session.ts";
import { SessionError } from "./session_error.ts";

/** Commands that describe files (daemon-protocol.md 5.5 and 5.6). They ignore includes and excludes. */
export const LISTING_COMMANDS: Readonly<Record<string, Command>> = {
  MLST(session, parameters) {
    session.assertLevel("INFO");
    const path = pathOf(session, parameters ?? ".");
    const info = new FileInfo(path);
    if (!info.exists()) throw new SessionError(550, INACCESSIBLE, true);
    session.reply(
      [`250- Listing ${path}`, ...injected(session), ` ${info.facts(session.host.timeZone)}`, "250 End"].join(
        "\n",
      ),
    );
  },
  MLSD(session, parameters) {
    session.assertLevel("INFO");
    return sendListing(session, parameters || ".", (info) => info.facts(session.host.timeZone));
  },
  LIST(session, parameters) {
    session.assertLevel("INFO");
    const path = parameters === "-a" || !parameters ? "." : parameters;
    return sendListing(session, path, (info) => info.listing(session.host.timeZone, Date.now()));
  },
  STAT(session, parameters) {
    session.assertLevel("INFO");
    const [mode, argument = "."] = splitOnce(parameters ?? "", " ");
    const path = pathOf(session, argument);
    const info = existing(path);
    const files = mode === "N" && info.isDirectory() ? entries(path) : [info];
    const lines = files.flatMap((file) => describe(file, (each) => ` ${each.status()}`));
    session.reply(
      ["211- Sending file list", ...injected(session), ...lines, "211 End of file list"].join("\n"),
    );
  },
  SIZE(session, parameters) {
    session.assertLevel("INFO");
    const path = pathOf(session, parameters);
    if (!new FileInfo(path).exists()) throw new SessionError(550, INACCESSIBLE);
    throw new PythonError("Connector.write_message() got an unexpected keyword argument 'msg'");
  },
};

/** Sends a listing, which is empty without a data connection or with compression. */
async function sendListing(
  session: Session,
  argument: string,
  line: (info: FileInfo) => string,
): Promise<void> {
  const path = pathOf(session, argument);
  if (!new FileInfo(path).isDirectory()) throw new SessionError(550, "Directory does not exist.", true);
  const files = listable(path);
  session.reply("150 OK");
  if (!session.options.compress) {
    const lines = [
      ...injected(session, "injected-directory"),
      ...files.flatMap((file) => describe(file, line)),
    ];
    await session.data?.write(lines.map((text) => `${text}\n`).join(""));
  }
  session.resetRange();
  session.reply("226 File transfer successful");
  await session.closeData();
}

function listable(path: string): FileInfo[] {
  try {
    return entries(path);
  } catch (error) {
    if (!(error instanceof PythonError)) throw error;
    throw new SessionError(550, `500 Error listing <${path}>: ${error.message}`, true);
  }
}

function entries(path: string): FileInfo[] {
  return withPaths([path], () => readdirSync(path)).map((name) => new FileInfo(posix.join(path, name)));
}

/** Returns the line of a file, or an empty list for a dangling link or a deleted file. */
function describe(file: FileInfo, line: (info: FileInfo) => string): string[] {
  try {
    return [line(file)];
  } catch {
    return [];
  }
}

function injected({ fault }: Session, besides?: "injected-directory"): readonly string[] {
  return fault?.kind === "injected-listing" || (besides !== undefined && fault?.kind === besides)
    ? fault.lines
    : [];
}
