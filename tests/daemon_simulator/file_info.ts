import { accessSync, constants, existsSync, realpathSync, statSync } from "node:fs";
import { posix } from "node:path";
import { PythonError } from "./python_text.ts";

const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
/** Age beyond which a file shows its year instead of the time of day, in seconds. */
const OLD = 15_811_200;

/** File as the daemon describes it (daemon-protocol.md 5.5 and 5.6). Symbolic links are followed. */
export class FileInfo {
  constructor(readonly path: string) {}

  exists(): boolean {
    return !this.path.includes("\0") && existsSync(this.path);
  }

  isDirectory(): boolean {
    return this.exists() && statSync(this.path).isDirectory();
  }

  canRead(): boolean {
    return this.exists() && may(this.#realPath(), constants.R_OK);
  }

  /** In bytes. */
  get size(): number {
    return statSync(this.path).size;
  }

  /** Returns the line of `MLST` and `MLSD`. @param timeZone IANA name of the daemon's time zone. */
  facts(timeZone: string | undefined): string {
    const stat = statSync(this.path);
    const { size, mtimeMs, mode } = stat;
    const directory = stat.isDirectory();
    const time = localTime(mtimeMs, timeZone);
    const modify = `${time.year}${time.month}${time.day}${time.hour}${time.minute}${time.second}`;
    const perm = this.#permissions(directory ? "lwe" : "rwx", "");
    return `size=${size};modify=${modify};type=${directory ? "dir" : "file"};perm=${perm};` +
      `UNIX.mode=${mode.toString(8)}; ${this.#name}`;
  }

  /** Returns the line of `STAT`. */
  status(): string {
    const { size, mtimeMs } = statSync(this.path);
    const kind = this.isDirectory() ? "d" : "-";
    return `${kind}${this.#permissions("rwx", "-")} ${size} ${
      1000 * Math.floor(mtimeMs / 1000)
    } ${this.#name}`;
  }

  /** Returns the line of `LIST`, with its CR. @param now Milliseconds since the epoch. */
  listing(timeZone: string | undefined, now: number): string {
    const { size, mtimeMs } = statSync(this.path);
    const [kind, links] = this.isDirectory() ? ["d", 3] : ["-", 1];
    const time = localTime(mtimeMs, timeZone);
    const old = mtimeMs / 1000 < Math.floor(now / 1000) - OLD;
    const date = `${MONTHS[Number(time.month) - 1]} ${time.day} ${
      old ? time.year : `${time.hour}:${time.minute}`
    }`;
    return `${kind}${this.#permissions("rwx", "-")}------   ${links} dummy dummy ${size} ${date} ` +
      `${posix.basename(this.path)}\r`;
  }

  get #name(): string {
    return this.path === "/" ? "/" : posix.basename(this.path);
  }

  #permissions(letters: string, missing: string): string {
    const path = this.#realPath();
    return [constants.R_OK, constants.W_OK, constants.X_OK]
      .map((access, at) => may(path, access) ? letters.charAt(at) : missing).join("");
  }

  /** Resolves symbolic links, which `accessSync` does not follow. */
  #realPath(): string | undefined {
    try {
      return realpathSync(this.path);
    } catch {
      return undefined;
    }
  }
}

function may(path: string | undefined, access: number): boolean {
  try {
    if (path !== undefined) accessSync(path, access);
    return path !== undefined;
  } catch {
    return false;
  }
}

const formats = new Map<string | undefined, Intl.DateTimeFormat>();

/**
 * Returns the cached format of a zone: a new one takes milliseconds, and a listing has thousands of lines.
 */
function formatOf(timeZone: string | undefined): Intl.DateTimeFormat {
  const known = formats.get(timeZone);
  if (known !== undefined) return known;
  const made = new Intl.DateTimeFormat("en-GB", {
    timeZone,
    year: "numeric",
    month: "2-digit",
    day: "2-digit",
    hour: "2-digit",
    minute: "2-digit",
    second: "2-digit",
    hourCycle: "h23",
  });
  formats.set(timeZone, made);
  return made;
}

function localTime(moment: number, timeZone: string | undefined): Readonly<Record<string, string>> {
  return Object.fromEntries(formatOf(timeZone).formatToParts(moment).map(({ type, value }) => [type, value]));
}

/** Reply about a path that a session cannot use. */
export const INACCESSIBLE = "Directory/file does not exist or cannot be accessed!";

/** Returns a file that must exist. @throws {PythonError} */
export function existing(path: string): FileInfo {
  const info = new FileInfo(path);
  if (!info.exists()) throw new PythonError(INACCESSIBLE);
  return info;
}
