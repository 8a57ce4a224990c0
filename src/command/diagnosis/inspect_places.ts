import { dirname } from "node:path";
import { attempt } from "../../model/attempt.ts";
import type { EffectiveValue } from "../../config/key_reader.ts";
import type { Diagnostic } from "../../model/diagnostic.ts";
import { MAX_PATH_BYTES } from "../../workers/control_socket.ts";
import { resolveHost } from "../../workers/permissions.ts";
import type { Snapshot } from "../../service/assembly/load_snapshot.ts";
import type { Schema } from "../../store/sqlite_database.ts";
import { type Account, closedFolder, permits } from "./service_account.ts";

interface Configured {
  readonly snapshot: Snapshot;
  readonly effective: readonly EffectiveValue[];
}

/** Reason why the service cannot use the place of a key. */
type Finding = Omit<Diagnostic, "file" | "line">;

function error(key: string, expected: string, fix: string, found?: string): Finding[] {
  return [{ severity: "error", key, found, expected, fix }];
}

const [READ, WRITE, ENTER] = [4, 2, 1]; // permission bits in a digit of a mode

/** Folders that systemd creates for the unit's account, by `StateDirectory=` and similar settings. */
const OF_SYSTEMD = /^\/(?:var\/(?:lib|log|cache)|run)\/authserver(?=\/|$)/;

/** Folders that Deno opens only to programs with all permissions. */
const OF_KERNEL = /^\/(?:dev|proc|sys)(?:\/|$)/;

/**
 * Tests the writable folders and files, databases and listen addresses; leaves no trace.
 * @param options.account Judges owners and modes for this account; absent: the permissions of this process.
 * @param options.inUse Whether this process has the databases open: closing a file would release its SQLite locks.
 */
export async function inspectPlaces(
  { snapshot: { config }, effective }: Configured,
  { account, inUse = false }: { readonly account?: Account; readonly inUse?: boolean } = {},
): Promise<readonly Diagnostic[]> {
  const { sharing: { directory }, control, logging, audit, site, metrics } = config;
  const places = new PlaceInspector(account, new Uint8Array(inUse ? 0 : 65_536)); // as a new database
  const names = [site.host, metrics.listen?.host ?? site.host];
  const hosts = new Set(await Promise.all(names.map(async (name) => (await resolveHost(name))[0])));
  const isSamePort = metrics.listen?.port === site.port && site.port > 0 &&
    (hosts.size === 1 || hosts.has("::") ||
      (hosts.has("0.0.0.0") && ![...hosts].some((host) => host?.includes(":"))));
  const findings = await Promise.all([
    directory === undefined ? [] : places.persistence(directory, inUse),
    control.enabled && control.socket !== undefined
      ? places.socket("container.control.socket", control.socket)
      : [],
    logging.file === undefined ? [] : places.log("container.logging.file", logging.file),
    audit.to === "file" ? places.log("container.audit.file", audit.path) : [],
    places.address("container.host", site.host, site.port),
    metrics.listen ? places.address("container.metrics.host", metrics.listen.host, metrics.listen.port) : [],
    isSamePort ? error("container.metrics.port", "is container.port, too", "choose another port") : [],
  ]);
  return findings.flat().map((finding) => {
    const { file = config.sources.main, line } = effective.find(({ key }) => key === finding.key) ?? {};
    return line === undefined ? { ...finding, file } : { ...finding, file, line };
  });
}

interface WriteProblem {
  readonly expected: string;
  readonly fix: string;
  readonly ofDisk?: true;
}

/** Inspects places for an account; without one, for that of this process. Folders must have room for the sample. */
class PlaceInspector {
  constructor(readonly account: Account | undefined, readonly sample: Uint8Array) {}

  async persistence(folder: string, inUse: boolean): Promise<Finding[]> {
    const key = "persistence.directory";
    const found = await this.#folder(key, folder);
    if (found.length > 0 || inUse) return found;
    const { SHARE_DATABASE, SHARE_SCHEMA } = await import("../../sharing/store/schema.ts");
    const { RECORD_DATABASE, RECORD_SCHEMA } = await import("../../store/sqlite_record_store.ts");
    return [
      ...await this.#database(key, `${folder}/${SHARE_DATABASE}`, SHARE_SCHEMA),
      ...await this.#database(key, `${folder}/${RECORD_DATABASE}`, RECORD_SCHEMA),
    ];
  }

  async socket(key: string, path: string): Promise<Finding[]> {
    if (new TextEncoder().encode(path).length > MAX_PATH_BYTES) {
      const expected = `expected a path of at most ${MAX_PATH_BYTES} bytes`;
      return error(key, expected, `set ${key}=/run/authserver/control.sock`, path);
    }
    const about = await Deno.lstat(path).catch(() => undefined);
    if (about === undefined || about.isSocket) return await this.#folder(key, dirname(path));
    return error(key, `${path} is there and is no socket`, `mv ${path} ${path}.old`);
  }

  /** Inspects a log file; its findings are warnings, since the service runs without a log. */
  async log(key: string, file: string): Promise<Finding[]> {
    const find = async () => {
      const folder = await this.#folder(key, dirname(file));
      const about = await Deno.stat(file).catch(() => undefined);
      if (folder.length > 0 || about === undefined) return folder;
      if (about.isDirectory) return error(key, `${file} is a folder`, `mv ${file} ${file}.old`);
      const problem = await this.#writeProblem(file, about, WRITE);
      return problem === undefined ? [] : error(key, problem.expected, problem.fix);
    };
    return (await find()).map((finding) => ({ ...finding, severity: "warning" }));
  }

  /** Inspects a listen address; accepts a port in use, which may belong to the running service. */
  async address(key: string, host: string, port: number): Promise<Finding[]> {
    const [hostname] = await resolveHost(host);
    if (hostname === undefined) {
      const expected = "no such host at present, and the service does not start without it";
      return [{ severity: "warning", key, found: host, expected, fix: `try: getent hosts ${host}` }];
    }
    try {
      const low = port > 0 && port < 1024;
      if (low && this.account?.bindsLow === false) throw new Deno.errors.PermissionDenied();
      Deno.listen({ hostname, port: low && this.account === undefined ? port : 0 }).close();
      return [];
    } catch (cause) {
      if (cause instanceof Deno.errors.AddrInUse) return [];
      if (cause instanceof Deno.errors.AddrNotAvailable) {
        const fix = `set ${key}=0.0.0.0 or an address that "ip address" shows`;
        return error(key, "this machine has no such address", fix, host);
      }
      if (!(cause instanceof Deno.errors.PermissionDenied)) throw cause;
      const right = "AmbientCapabilities= and CapabilityBoundingSet=CAP_NET_BIND_SERVICE, PrivateUsers=no";
      const fix = `set a port above 1023, or add in the unit ${right}`;
      const expected = `${this.#who} may not listen on it`;
      // The system may permit lower ports to every account (net.ipv4.ip_unprivileged_port_start).
      const severity = this.account === undefined ? "error" : "warning";
      return [{ severity, key: key.replace(/host$/, "port"), found: String(port), expected, fix }];
    }
  }

  async #database(key: string, file: string, schema: Schema): Promise<Finding[]> {
    const about = await Deno.stat(file).catch(() => undefined);
    if (about === undefined) return []; // the service creates it
    if (!about.isFile) return error(key, `${file} is not a file`, `mv ${file} ${file}.old`);
    const problem = await this.#writeProblem(file, about, READ | WRITE);
    if (problem !== undefined) return error(key, problem.expected, problem.fix);
    const { databaseDamage } = await import("../../store/sqlite_database.ts");
    const damage = await databaseDamage(file, schema);
    if (damage === undefined) return [];
    const fix = /schema version/.test(damage)
      ? "install the newer version again, or go back to the backup before it: authserver restore"
      : `mv ${file} ${file}.damaged, then restore the file from a backup`;
    return error(key, damage, fix);
  }

  async #folder(key: string, folder: string): Promise<Finding[]> {
    const { account } = this;
    const place = key.startsWith("persistence") ? "var/lib" : key.endsWith("socket") ? "run" : "var/log";
    const [own] = OF_SYSTEMD.exec(folder) ?? [];
    const path = `set ${key} to a path in a folder of ${this.#who}, such as /${place}/authserver`;
    const elsewhere = own === undefined ? path : `chown -R ${this.#name} ${own}`;
    if (OF_KERNEL.test(folder)) {
      const fix = place === "var/log" ? `set ${key}=- to write to the console` : elsewhere;
      return error(key, `the program may not write to ${folder}`, fix);
    }
    const [there, about] = await nearestExisting(folder);
    if (about?.isDirectory === false) {
      return error(key, `${folder} cannot be made: ${there} is not a folder`, `mv ${there} ${there}.old`);
    }
    const missing = there !== folder;
    if (await this.#isGiven(folder)) return [];
    const closed = about ? account && await closedFolder(account, there) : dirname(there);
    if (!about || closed) return error(key, `${this.#who} may not enter ${closed}`, elsewhere);
    const problem = await this.#writeProblem(there, about, WRITE | ENTER);
    if (problem === undefined) return [];
    const make = `install -d -o ${this.#name} -m 700 ${folder}`;
    const uid = account?.uid ?? attempt(Deno.uid, Deno.errors.NotCapable, () => null); // a running service may not read it
    const isAmongOwn = (await Deno.stat(dirname(there))).uid === uid;
    const canFix = problem.ofDisk || isAmongOwn || OF_SYSTEMD.test(there); // leaves folders of others unchanged
    const fix = missing && !problem.ofDisk ? make : canFix ? problem.fix : elsewhere;
    return error(key, `${missing ? `${folder} cannot be made: ` : ""}${problem.expected}`, fix);
  }

  /** Tries to write; checks another account by owner and mode. @param wanted Bits in a digit of a mode. */
  async #writeProblem(path: string, about: Deno.FileInfo, wanted: number): Promise<WriteProblem | undefined> {
    const refused = {
      expected: `${this.#who} may not write ${about.isDirectory ? "to " : ""}${path}`,
      fix: `chown ${this.#name} ${path}`,
    };
    if (this.account && !permits(this.account, about, wanted) && !await this.#isGiven(path)) return refused;
    try {
      if (about.isDirectory) {
        const file = await Deno.makeTempFile({ dir: path, prefix: ".authserver-" });
        await Deno.writeFile(file, this.sample).finally(() => Deno.remove(file));
      } else (await Deno.open(path, { read: wanted >= READ, append: true })).close();
      return undefined;
    } catch (error) {
      const code = error instanceof Error && "code" in error && error.code;
      if (code === "ENOSPC" || code === "EDQUOT") {
        return { expected: `the disk of ${path} is full`, fix: "make room", ofDisk: true };
      }
      if (code === "EROFS") {
        const mount = `mount -o remount,rw "$(findmnt -n -o TARGET -T ${path})"`;
        const fix = `${mount}; or if it is so for the unit alone, ReadWritePaths=${path} there`;
        return { expected: `the disk of ${path} is read-only`, fix, ofDisk: true };
      }
      return this.account === undefined ? refused : undefined; // the mode permits it to the account
    }
  }

  /** Reports whether systemd creates the folder at the start, or gives it to the account with all in it. */
  async #isGiven(path: string): Promise<boolean> {
    const own = this.account && OF_SYSTEMD.exec(path)?.[0];
    return own !== undefined && (await Deno.stat(own).catch(() => undefined))?.uid !== this.account?.uid;
  }

  get #who(): string {
    return this.account?.name ?? "this account";
  }

  get #name(): string {
    return this.account?.name ?? '"$(id -un)"';
  }
}

/** Returns the path or its nearest existing ancestor; without information if this process may not enter its folder. */
async function nearestExisting(path: string): Promise<readonly [string, Deno.FileInfo | undefined]> {
  try {
    return [path, await Deno.stat(path)];
  } catch (error) {
    const above = dirname(path);
    // A dangling link, or a file that another process has created since.
    const own = await Deno.lstat(path).catch(() => undefined);
    if (own || above === path) return [path, own];
    const found = await nearestExisting(above);
    return found[1] && error instanceof Deno.errors.PermissionDenied ? [path, undefined] : found;
  }
}
