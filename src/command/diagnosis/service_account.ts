import { dirname } from "node:path";
import type { Diagnostic } from "../../model/diagnostic.ts";

export interface Account {
  readonly name: string;
  readonly uid: number;
  readonly gids: readonly number[]; // primary and supplementary groups
  readonly bindsLow?: boolean; // false: its unit does not permit ports below 1024
}

/** Files of the system. */
export const SYSTEM_PATHS = {
  /** Unit files of systemd; a later one overrides those before it, and a drop-in all of them. */
  units: ["/usr/lib/systemd/system/authserver.service", "/etc/systemd/system/authserver.service"],
  dropIns: "/etc/systemd/system/authserver.service.d",
  folder: "/etc/authserver", // of an installed configuration
  passwd: "/etc/passwd",
  group: "/etc/group",
};

/**
 * Returns the account of the service, for callers that may read everything: the user of its unit, else the owner of the
 * configuration's folder. `undefined` for root and unknown accounts. @param mainFile Absolute path.
 */
export async function serviceAccount(mainFile: string, places = SYSTEM_PATHS): Promise<Account | undefined> {
  const folder = dirname(mainFile);
  const found = await Array.fromAsync(Deno.readDir(places.dropIns), ({ name }) => name).catch(() => []);
  const dropIns = found.filter((name) => name.endsWith(".conf")).sort();
  const files = [...places.units, ...dropIns.map((name) => `${places.dropIns}/${name}`)];
  const unit = folder === places.folder
    ? (await Promise.all(files.map(textOf))).join("\n").split(/\r?\n/)
    : [];
  const set = (key: string) =>
    unit.filter((line) => line.startsWith(`${key}=`)).map((line) => line.slice(key.length + 1));
  const user = set("User").at(-1);
  const groups = [set("Group").at(-1), ...set("SupplementaryGroups").flatMap((names) => names.split(/\s+/))];
  const bindsLow = user === undefined || set("AmbientCapabilities").join().includes("CAP_NET_BIND_SERVICE");
  const owner = (await Deno.stat(folder).catch(() => undefined))?.uid ?? undefined;
  for (const [name = "", , uid = "", gid = ""] of await rowsOf(places.passwd)) {
    if (user === undefined ? Number(uid) !== owner || uid === "" : name !== user) continue;
    if (Number(uid) === 0) return undefined;
    const further = (await rowsOf(places.group)).filter(([group = "", , , all = ""]) =>
      groups.includes(group) || all.split(",").includes(name)
    );
    const gids = [Number(gid), ...further.map(([, , id]) => Number(id))];
    return { name, uid: Number(uid), gids, bindsLow };
  }
  return undefined;
}

/** Returns the numbers of local accounts or groups by name. @param file As passwd(5) or group(5) say. */
export async function localIds(file: string): Promise<ReadonlyMap<string, number>> {
  const rows = await rowsOf(file);
  return new Map(rows.flatMap(([name = "", , id = ""]) => /^\d+$/.test(id) ? [[name, Number(id)]] : []));
}

/** Returns the first name of a number. */
export function nameOf(ids: ReadonlyMap<string, number>, wanted: number | null): string | undefined {
  return ids.entries().find(([, id]) => id === wanted)?.[0];
}

async function rowsOf(file: string) {
  return (await textOf(file)).split("\n").map((line) => line.split(":"));
}

async function textOf(file: string): Promise<string> {
  return await Deno.readTextFile(file).catch(() => "");
}

/** Reports present files that an account cannot read. @param mainFile Absolute; remedies change no folders but its own. */
export async function unreadableFor(account: Account, files: Iterable<string>, mainFile: string) {
  const diagnostics: Diagnostic[] = [];
  for (const file of new Set(files)) {
    const about = await Deno.stat(file).catch(() => undefined);
    if (about === undefined) continue;
    const closed = await closedFolder(account, dirname(file)) ??
      await closedFolder(account, dirname(await Deno.realPath(file)));
    if (closed === undefined && permits(account, about, about.isDirectory ? 5 : 4)) continue;
    const [place, right, what] = closed ? [closed, "x", `enter ${closed}`] : [file, "r", "read it"];
    const isOthers = (closed !== undefined || about.isDirectory) &&
      !`${place}/`.startsWith(`${dirname(mainFile)}/`);
    const fix = isOthers
      ? `copy it to a folder of ${account.name}, such as /etc/authserver, and set the key to the copy`
      : `chgrp ${account.name} ${place} && chmod g+${right} ${place}`;
    diagnostics.push({ severity: "error", file, expected: `${account.name} may not ${what}`, fix });
  }
  return diagnostics;
}

/** Returns the topmost folder on the path, or on the one that its links lead to, that the account cannot enter. */
export async function closedFolder(account: Account, folder: string): Promise<string | undefined> {
  const above = dirname(folder);
  const closed = above === folder ? undefined : await closedFolder(account, above);
  const about = await Deno.stat(folder).catch(() => undefined);
  if (closed !== undefined || about === undefined) return closed;
  if (!permits(account, about, 1)) return folder;
  const target = await Deno.realPath(folder);
  return target === folder ? undefined : await closedFolder(account, target);
}

/** Reports whether owner and mode permit an access. @param wanted Bits in a digit of a mode: 4 to read, 1 to enter. */
export function permits({ uid, gids }: Account, about: Deno.FileInfo, wanted: number): boolean {
  const mode = about.mode ?? 0o777;
  const shift = about.uid === uid ? 6 : about.gid !== null && gids.includes(about.gid) ? 3 : 0;
  return ((mode >> shift) & wanted) === wanted;
}
