import { hasForbiddenCharacter } from "../../model/absolute_path.ts";

/** Directory entry (daemon-protocol.md 5.5). */
export interface Entry {
  readonly name: string;
  /** `special`: device, pipe or socket, which must not be opened. */
  readonly kind: "file" | "directory" | "special";
  readonly size: number; // bytes; meaningless for directories
  readonly modified?: string; // `YYYYMMDDhhmmss` in the daemon's unknown local time
  readonly permissions: string; // permissions: `r w x`, for directories `l w e`
  readonly mode?: number; // permission bits, if the daemon reports them
}

/** Reports whether the account may read a file or enter a directory. */
export function isReadable({ kind, permissions }: Entry): boolean {
  return kind === "directory" ? /[ex]/.test(permissions) : kind === "file" && permissions.includes("r");
}

/** Reports whether the account may write a file or create entries. */
export function isWritable({ kind, permissions }: Entry): boolean {
  if (kind === "special" || !permissions.includes("w")) return false;
  // The Java daemon writes `x` for `e`.
  return kind === "file" || /[ex]/.test(permissions);
}

/** Parses `size=10;modify=20260304050607;type=file;perm=rw;UNIX.mode=100644; ten.txt`; `undefined` if invalid. */
export function parseEntry(line: string): Entry | undefined {
  const space = line.indexOf(" ");
  if (space < 0) return undefined;
  const name = line.slice(space + 1);
  if (name === "" || hasForbiddenCharacter(name)) return undefined;
  const facts = new Map<string, string>();
  for (const fact of line.slice(0, space).split(";")) {
    const equals = fact.indexOf("=");
    if (equals > 0) facts.set(fact.slice(0, equals).toLowerCase(), fact.slice(equals + 1));
  }
  const mode = facts.get("unix.mode");
  const kind = entryKind(facts.get("type"), mode);
  const size = facts.get("size") ?? "0";
  if (kind === undefined || !/^\d{1,16}$/.test(size) || !Number.isSafeInteger(Number(size))) return undefined;
  return {
    name,
    kind,
    size: Number(size),
    modified: /^\d{14}$/.exec(facts.get("modify") ?? "")?.[0],
    permissions: facts.get("perm") ?? "",
    mode: mode === undefined ? undefined : parseInt(mode, 8) & 0o7777,
  };
}

/** Returns the kind; devices and pipes have `type=file`, and only the mode distinguishes them. */
function entryKind(type: string | undefined, mode: string | undefined): Entry["kind"] | undefined {
  if (type !== "file" && type !== "dir") return undefined;
  if (mode === undefined) return type === "dir" ? "directory" : "file";
  if (!/^[0-7]{3,7}$/.test(mode)) return undefined;
  const format = parseInt(mode, 8) & 0o170000;
  // Some file systems report only permission bits.
  if (format === 0) return type === "dir" ? "directory" : "file";
  if (format === 0o040000) return "directory";
  return format === 0o100000 ? "file" : "special";
}
