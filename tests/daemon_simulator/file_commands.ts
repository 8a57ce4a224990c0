import {
  chmodSync,
  lstatSync,
  mkdirSync,
  realpathSync,
  renameSync,
  rmdirSync,
  statSync,
  unlinkSync,
  utimesSync,
} from "node:fs";
import { tmpdir } from "node:os";
import type { Command } from "./commands.ts";
import { allowedPathOf, pathOf, required } from "./parameters.ts";
import { PythonError, systemError, withPaths } from "./python_text.ts";
import type { Session } from "./session.ts";
import { SessionError } from "./session_error.ts";

const TEMPORARY = [tmpdir(), realpathSync(tmpdir())];

/** Returns {@link allowedPathOf} for test files: a faulty service must not delete files of the machine. */
function temporaryPathOf(session: Session, parameters: string | undefined): string {
  const path = allowedPathOf(session, parameters);
  if (TEMPORARY.some((folder) => path.startsWith(`${folder}/`))) return path;
  throw new SessionError(550, "Not a temporary file");
}

/** Commands about directories, names and times (daemon-protocol.md 5.3 and 5.9). */
export const FILE_COMMANDS: Readonly<Record<string, Command>> = {
  PWD(session) {
    session.assertLevel("INFO");
    session.reply(`257 "${session.paths.working}"`);
  },
  CWD(session, parameters) {
    session.assertLevel("INFO");
    const path = allowedPathOf(session, parameters);
    try {
      withPaths([path], () => {
        if (!statSync(path).isDirectory()) throw systemError("ENOTDIR", path);
        session.paths.enter(path);
      });
    } catch (error) {
      if (!(error instanceof PythonError)) throw error;
      throw new SessionError(550, `Can't cwd to directory: ${error.message}`);
    }
    session.reply("200 OK");
  },
  CDUP(session) {
    session.paths.up();
    session.reply("200 OK");
  },
  MKD(session, parameters) {
    session.assertLevel("WRITE");
    const path = pathOf(session, parameters);
    withPaths([path], () => mkdirSync(path));
    session.reply(`257 "${path}" directory created`);
  },
  DELE(session, parameters) {
    session.assertLevel("FULL");
    const path = temporaryPathOf(session, parameters);
    withPaths([path], () => {
      if (lstatSync(path).isDirectory()) throw systemError("EISDIR", path);
      unlinkSync(path);
    });
    session.reply("200 OK");
  },
  RMD(session, parameters) {
    session.assertLevel("FULL");
    const path = temporaryPathOf(session, parameters);
    withPaths([path], () => {
      if (!lstatSync(path).isDirectory()) throw systemError("ENOTDIR", path);
      rmdirSync(path);
    });
    session.reply("200 OK");
  },
  RNFR(session, parameters) {
    session.assertLevel("WRITE");
    session.renameFrom = temporaryPathOf(session, parameters);
    session.reply("350 File action OK Please send rename-to");
  },
  RNTO(session, parameters) {
    session.assertLevel("WRITE");
    const path = allowedPathOf(session, parameters);
    const from = session.renameFrom;
    if (from === undefined) throw new PythonError("'Session' object has no attribute 'rename_from_path'");
    withPaths([from, path], () => renameSync(from, path));
    session.reply("200 OK");
  },
  MFMT(session, parameters) {
    session.assertLevel("WRITE");
    const words = required(parameters, "split").split(" ");
    const [time = "", target] = words;
    if (target === undefined) throw new PythonError("not enough values to unpack (expected 2, got 1)");
    if (words.length > 2) throw new PythonError("too many values to unpack (expected 2)");
    const path = allowedPathOf(session, target);
    const seconds = localSeconds(time);
    // Errors of `os.utime` do not name the file.
    withPaths([], () => utimesSync(path, seconds, seconds));
    session.reply(`213 Modify=${time}; ${target}`);
  },
  MFF(session, parameters) {
    session.assertLevel("WRITE");
    const words = required(parameters, "split").split(" ");
    const [facts = "", target] = words;
    if (target === undefined) throw new PythonError("not enough values to unpack (expected 2, got 1)");
    if (words.length > 2) throw new PythonError("too many values to unpack (expected 2)");
    const path = allowedPathOf(session, target);
    const done = facts.split(";").filter((fact) => fact !== "");
    for (const fact of done) {
      const [key = "", value = ""] = fact.split("=");
      if (key.toLowerCase() !== "unix.mode") throw new PythonError(`Not supported: '${key}'`);
      withPaths([path], () => chmodSync(path, parseInt(value, 8)));
    }
    session.reply(`213 ${done.join(";")}; ${target}`);
  },
};

/** Parses `YYYYMMDDhhmmss` in the system's time zone. @returns Seconds since the epoch. */
function localSeconds(text: string): number {
  const match = /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)$/.exec(text);
  if (match === null) throw new PythonError(`time data '${text}' does not match format '%Y%m%d%H%M%S'`);
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = match.slice(1).map(Number);
  return new Date(year, month - 1, day, hour, minute, second).getTime() / 1000;
}
