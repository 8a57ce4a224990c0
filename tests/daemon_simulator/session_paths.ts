import { realpathSync, statSync } from "node:fs";
import { posix } from "node:path";
import { matchesPattern } from "./path_pattern.ts";
import { listed, strip } from "./python_text.ts";
import { SessionError } from "./session_error.ts";

/** Rules for the paths of a session. */
export interface PathRules {
  /** Value of `file` in the request. */
  readonly file: string;
  readonly home: string;
  /** Patterns separated by `:`. */
  readonly includes: string;
  readonly excludes: string;
  /** Paths below the home directory that are always excluded. */
  readonly protectedFiles: readonly string[];
}

/** Directory of a session, and the paths that it may use (daemon-protocol.md 1.8, 4 and 5.4). */
export class SessionPaths {
  /** Prefix of the paths inside, which siblings may share. */
  readonly base: string;
  readonly #includes: readonly string[];
  readonly #excludes: readonly string[];
  #current: string;
  /** Directory of the process: with symbolic links resolved, and `/` in a session without base. */
  #working: string;

  /** @throws {SessionError} If the session cannot be set up: the daemon then closes after its `230`. */
  constructor({ file, home, includes, excludes, protectedFiles }: PathRules) {
    const start = isDirectory(home) ? home : "/";
    const directory = directoryPart(file);
    this.base = directory === ""
      ? "/"
      : normalize(posix.isAbsolute(directory) ? directory : `${start}/${directory}`);
    this.#current = directory === "" ? start : this.base;
    if (!isDirectory(this.#current)) throw new SessionError(550, `No such directory: ${this.#current}`);
    this.#working = realpathSync(this.base);
    const patterns = (list: string) => list.split(":").filter((p) => p !== "").map((p) => this.absolute(p));
    this.#excludes = [...protectedFiles.map((path) => `${home}/${path}`), ...patterns(excludes)];
    this.#includes = patterns(includes);
  }

  get working(): string {
    return this.#working;
  }

  /** Returns the path of an argument. @throws {SessionError} 534 if it is outside the base. */
  absolute(argument: string): string {
    const text = strip(argument);
    const path = normalize(posix.isAbsolute(text) ? text : `${this.#current}/${text}`);
    if (!path.startsWith(this.base)) throw new SessionError(534, `Forbidden: ${path} not in ${this.base}`);
    return path;
  }

  /** Checks excludes and includes, as only some commands do. @throws {SessionError} 534 */
  assertAllowed(path: string): void {
    if (this.#excludes.some((pattern) => matchesPattern(path, pattern))) {
      throw new SessionError(534, `Forbidden: ${path} excluded via ${listed(this.#excludes)}`);
    }
    if (this.#includes.length > 0 && !this.#includes.some((pattern) => matchesPattern(path, pattern))) {
      throw new SessionError(534, `Forbidden: ${path} not included in  ${listed(this.#includes)}`);
    }
  }

  enter(path: string): void {
    this.#working = realpathSync(path);
    this.#current = path;
  }

  /** @throws {SessionError} 534 at the base. */
  up(): void {
    if (this.#current === this.base) throw new SessionError(534, "Can't cd up, already at base directory");
    this.#working = posix.dirname(this.#working);
    this.#current = this.#working;
  }
}

/**
 * Does the same as `os.path.dirname`: removes the last name and the slashes before it, unless only they are
 * left.
 */
function directoryPart(file: string): string {
  const head = file.slice(0, file.lastIndexOf("/") + 1);
  return /^\/+$/.test(head) ? head : head.replace(/\/+$/, "");
}

/** Does the same as `os.path.normpath`, but never keeps two slashes at the start. */
function normalize(path: string): string {
  const normal = posix.normalize(path);
  return normal.length > 1 && normal.endsWith("/") ? normal.slice(0, -1) : normal;
}

function isDirectory(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}
