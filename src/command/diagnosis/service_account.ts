import { dirname } from "node:path";
import type { Diagnostic } from "../../model/diagnostic.ts";

export interface Account {
  readonly name: string;
  readonly uid: number;
  readonly gids: readonly number[]; // primary and supplementary groups
}

/** Files of the system. */
export const SYSTEM_PATHS = {
  /** Unit files of systemd; a later one overrides those before it. */
  units: ["/usr/lib/systemd/system/authserver.service", "/etc/systemd/system/authserver.service"],
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
  const named = folder === places.folder ? await userOfUnit(places.units) : undefined;
  const owner = (await Deno.stat(folder).catch(() => undefined))?.uid ?? undefined;
  for (const line of (await textOf(places.passwd)).split("\n")) {
    const [name = "", , uid = "", gid = ""] = line.split(":");
    if (named === undefined ? Number(uid) !== owner || uid === "" : name !== named) continue;
    if (Number(uid) === 0) return undefined;
    return { name, uid: Number(uid), gids: [Number(gid), ...await furtherGroups(name, places.group)] };
  }
  return undefined;
}

/** Returns the numbers of local accounts or groups by name. @param file As passwd(5) or group(5) say. */
export async function localIds(file: string): Promise<ReadonlyMap<string, number>> {
  const rows = (await textOf(file)).split("\n").map((line) => line.split(":"));
  return new Map(rows.flatMap(([name = "", , id = ""]) => /^\d+$/.test(id) ? [[name, Number(id)]] : []));
}

/** Returns the first name of a number. */
export function nameOf(ids: ReadonlyMap<string, number>, wanted: number | null): string | undefined {
  return ids.entries().find(([, id]) => id === wanted)?.[0];
}

async function userOfUnit(units: readonly string[]): Promise<string | undefined> {
  let user: string | undefined;
  for (const unit of units) user = /^User=(\S+)$/m.exec(await textOf(unit))?.[1] ?? user;
  return user;
}

async function furtherGroups(name: string, file: string): Promise<number[]> {
  return (await textOf(file)).split("\n").flatMap((line) => {
    const [, , gid = "", members = ""] = line.split(":");
    return members.split(",").includes(name) ? [Number(gid)] : [];
  });
}

async function textOf(file: string): Promise<string> {
  return await Deno.readTextFile(file).catch(() => "");
}

/** Reports present files that an account cannot read. @param mainFile Absolute; remedies change no folders but its own. */
export async function unreadableFor(account: Account, files: Iterable<string>, mainFile: string) {
  const diagnostics: Diagnostic[] = [];
  for (const file of new Set(files)) {
    const closed = await closedFolder(account, dirname(file));
    const about = await Deno.stat(file).catch(() => undefined);
    if (about === undefined) continue;
    if (closed === undefined && permits(account, about, about.isDirectory ? 5 : 4)) continue;
    const { name } = account;
    const [place, right, what] = closed ? [closed, "x", `enter ${closed}`] : [file, "r", "read it"];
    const isOthers = (closed !== undefined || about.isDirectory) &&
      !`${place}/`.startsWith(`${dirname(mainFile)}/`);
    const fix = isOthers
      ? `copy it to a folder of ${name}, such as /etc/authserver, and set the key to the copy`
      : `chgrp ${name} ${place} && chmod g+${right} ${place}`;
    diagnostics.push({ severity: "error", file, expected: `${name} may not ${what}`, fix });
  }
  return diagnostics;
}

/** Returns the topmost folder on the path that the account cannot enter. */
export async function closedFolder(account: Account, folder: string): Promise<string | undefined> {
  const above = dirname(folder);
  const closed = above === folder ? undefined : await closedFolder(account, above);
  if (closed !== undefined) return closed;
  const about = await Deno.stat(folder).catch(() => undefined);
  return about === undefined || permits(account, about, 1) ? undefined : folder;
}

/** Reports whether owner and mode permit an access. @param wanted Bits in a digit of a mode: 4 to read, 1 to enter. */
export function permits({ uid, gids }: Account, about: Deno.FileInfo, wanted: number): boolean {
  const mode = about.mode ?? 0o777;
  const shift = about.uid === uid ? 6 : about.gid !== null && gids.includes(about.gid) ? 3 : 0;
  return ((mode >> shift) & wanted) === wanted;
}
