import { groupNames, isAccountName, isPrivilegedAccount } from "../../model/account_name.ts";
import { dependsOnDirectory, patternsOf } from "../../model/wildcards.ts";
import { type Diagnostic, InvalidFile } from "../../model/diagnostic.ts";
import { parseRate } from "../../model/rate.ts";
import { SERVER_SUFFIXES } from "../server_attributes.ts";
import { ROLES } from "../access_rules.ts";
import { suggestion } from "../../config/did_you_mean.ts";
import {
  ATTRIBUTE_NAMES,
  type MapAttribute,
  type MapEntry,
  type MapFormat,
  readMapFile,
  type Report,
  standardAttribute,
} from "./map_file.ts";
import { createMapIndex, type Matching } from "./file_attribute_source.ts";
import type { KindInspection } from "../../config/kind.ts";
import { inspectFile } from "../../model/regular_file.ts";

/** Inspects a map file for the operator. */
export async function inspectMapFile(
  text: string,
  { file, matching, format, alone = false }: {
    readonly file: string;
    readonly matching: Matching;
    readonly alone?: boolean; // whether no other source provides attributes
    readonly format?: MapFormat;
  },
) {
  const index = createMapIndex(matching);
  const servers = new Map<string, number>();
  const names: { key: string; line: number }[] = [];
  const take = (entry: MapEntry, report: Report) => {
    index.add(entry, report);
    if (matching === "strict") names.push({ key: entry.key, line: entry.line });
    for (const attribute of entry.attributes) inspect(entry, attribute, report);
    if (alone) inspectWhole(entry, report);
    for (const { name, line } of entry.attributes) {
      const server = serverAttribute(name)?.server;
      if (server !== undefined && !servers.has(server)) servers.set(server, line);
    }
  };
  const found = { servers, names }; // the literal names only, and the line that first mentions a server
  try {
    const diagnostics = await readMapFile(text, { file, take, format });
    return { diagnostics, ...found, matches: (name: string) => index.find(name) !== undefined };
  } catch (error) {
    if (!(error instanceof InvalidFile)) throw error;
    return { diagnostics: error.diagnostics, ...found, matches: undefined };
  }
}

/** Reports attributes that no source provides. */
function inspectWhole({ key, line, attributes }: MapEntry, report: Report): void {
  const meaning = ({ name }: MapAttribute) => serverAttribute(name)?.suffix ?? standardAttribute(name);
  const valuesOf = (what: string) =>
    attributes.filter((attribute) => meaning(attribute) === what).flatMap(({ values }) => values)
      .filter((value) => value !== "");
  const warn = (expected: string, missing: string) => {
    const fix = `add ${missing} to the entry in line ${line}`;
    report({ severity: "warning", line, key: key.slice(0, 200), expected, fix });
  };
  const roles = valuesOf("role");
  if (roles.includes("banned")) return;
  if (roles.length === 0) {
    warn("no role, so this user may do no more than anonymous callers; expected user", '"role": "user"');
  } else if (valuesOf("xlogin").length === 0) {
    warn(
      "no xlogin, so this user has no account and gets no session; expected the name of an account",
      '"xlogin": "<account>"',
    );
  }
}

/** Reports a bad value, which only prevents that user's sessions. */
function inspect(entry: MapEntry, { name, values, line }: MapAttribute, report: Report): void {
  const key = `${entry.key}: ${name}`;
  const warn = (expected: string, found?: string) =>
    report({ severity: "warning", line, key, found, expected });
  const server = serverAttribute(name);
  const expected = standardAttribute(name) === undefined ? expectedName(name) : undefined;
  if (expected !== undefined) warn(expected);
  if (server !== undefined) {
    if (values.length > 1 && (server.suffix === "xlogin" || server.suffix === "rateLimit")) {
      warn(`of several values only the last counts, expected one: ${(values.at(-1) ?? "").slice(0, 50)}`);
    }
    if (expected === undefined && (values.at(-1) ?? "") === "") warn("expected a value");
    const twin = `uftpd.${server.server}.${server.suffix}`;
    if (name !== twin && entry.attributes.some((other) => other.name === twin)) {
      warn(`not used; ${twin} applies`);
    }
  }
  const meaning = server?.suffix ?? standardAttribute(name);
  for (const found of values) {
    const isMissing = found === "" && (server !== undefined || meaning !== "group");
    const expected = isMissing ? undefined : expectedInstead(meaning, found);
    if (expected !== undefined) warn(expected, found.slice(0, 50) || undefined);
  }
}

/** Returns what is expected in place of an attribute's name that has no effect. @param servers Absent: any. */
export function expectedName(name: string, servers?: readonly string[]): string | undefined {
  const server = serverAttribute(name);
  if (server !== undefined && !SERVER_SUFFIXES.some((suffix) => suffix === server.suffix)) {
    return `expected one of ${SERVER_SUFFIXES.join(", ")} after the server`;
  }
  if (server !== undefined) return expectedServer(server.server, servers);
  if (standardAttribute(name) !== undefined) {
    return "not used, expected roleAssign, uidAssign or groupsAssign";
  }
  if (name === "mail") return undefined;
  const suffix = SERVER_SUFFIXES.find((suffix) => suffix.toLowerCase() === name.toLowerCase());
  if (suffix !== undefined) return `not used without a server, expected uftpd.<server>.${suffix}`;
  const meant = suggestion(name, [...ATTRIBUTE_NAMES, ...SERVER_SUFFIXES]);
  return `not an attribute of this service, and not used${meant}`;
}

function expectedServer(server: string, servers: readonly string[] | undefined): string | undefined {
  if (servers?.includes(server) !== false) return undefined;
  return `no such server, expected one of authservice.servers: ${servers.join(" ")}`;
}

function expectedInstead(meaning: string | undefined, value: string): string | undefined {
  switch (meaning) {
    case "rateLimit": {
      const rate = parseRate(value);
      return rate.kind === "invalid" ? rate.expected : undefined;
    }
    case "role":
      return ROLES.includes(value)
        ? undefined
        : `a role without rights, expected ${ROLES.slice(0, -1).join(", ")} or ${ROLES.at(-1)}`;
    case "xlogin":
      if (isPrivilegedAccount(value)) return "expected an account without privileges, sessions are refused";
      return isAccountName(value) ? undefined : "expected the name of an account";
    case "group":
    case "supplementaryGroups":
      return groupNames(value).every(isAccountName)
        ? undefined
        : "expected the name of a group, or several with : between";
    case "includes":
    case "excludes": {
      const patterns = patternsOf(value);
      if (patterns.length === 0) return "expected path patterns, sessions are refused";
      return patterns.some(dependsOnDirectory)
        ? "expected patterns that begin with a slash; others allow only sessions that begin in the home directory"
        : undefined;
    }
    default:
      return undefined;
  }
}

/** Splits `uftpd.<server>.<suffix>`, in either spelling. */
function serverAttribute(name: string): { readonly server: string; readonly suffix: string } | undefined {
  const prefix = ["uftpd.", "daemon."].find((candidate) => name.startsWith(candidate));
  const end = name.lastIndexOf(".");
  if (prefix === undefined || end < prefix.length) return undefined;
  return { server: name.slice(prefix.length, end), suffix: name.slice(end + 1) };
}

/** Checks a map file and its server names for the operator. */
export async function inspectMap(
  { file, matching, format }: {
    readonly file: string;
    readonly matching: Matching;
    readonly format: MapFormat | undefined;
  },
  { servers, alone }: { readonly servers: readonly string[] | undefined; readonly alone: boolean },
): Promise<KindInspection> {
  let map: Awaited<ReturnType<typeof inspectMapFile>> | undefined;
  const diagnostics = await inspectFile(file, async (text) => {
    map = await inspectMapFile(text, { file, matching, format, alone });
    const unknown = [...map.servers].flatMap(([found, line]): Diagnostic[] => {
      const expected = expectedServer(found, servers);
      return expected === undefined ? [] : [{ severity: "warning", file, line, found, expected }];
    });
    return [...map.diagnostics, ...unknown];
  });
  return { diagnostics, written: map?.names.map((name) => ({ ...name, file })), matches: map?.matches };
}
