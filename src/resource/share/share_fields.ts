import { isAddressRange } from "../../model/address.ts";
import { attempt } from "../../model/attempt.ts";
import { canonicalDn } from "../../model/distinguished_name.ts";
import { HttpError, invalidRequest } from "../../model/http_error.ts";
import {
  type AccessLevel,
  EVERYBODY,
  EXPECTED_TARGET,
  groupOf,
  parseAccessLevel,
  parseTarget,
  type Quota,
} from "../../sharing/share.ts";
import { hasForbiddenCharacter } from "../../model/absolute_path.ts";
import { Secret } from "../../model/secret.ts";
import { membersOf, text, wholeNumber } from "../request_body.ts";

/** Body of `POST /rest/share/<server>` (rest-api.md 1.12); members from `maxUses` on are ours. */
export interface ShareFields {
  readonly path: string;
  readonly target: string;
  readonly targetName?: string; // of a person, as it was written
  readonly access: AccessLevel;
  readonly group?: string;
  readonly lifetime: number; // seconds; 0 is unlimited
  readonly oneTime: boolean;
  readonly maxUses?: number;
  readonly sources: readonly string[];
  readonly note?: string;
  readonly password?: Secret;
  readonly quota?: Quota; // `DROP` only
  readonly notify: boolean; // whether the owner wants mail about files that arrive
}

const MAX_NOTE_LENGTH = 500; // also bounds link passwords
const MAX_PASSWORD_LENGTH = 200;

const MAX_SOURCES = 32;

/** Parses a share request. @throws {ERR_INVALID_REQUEST} Naming the member and what was expected. */
export function parseShareFields(body: unknown): ShareFields {
  const member = membersOf(body);
  const access = parseAccessLevel(text("access", member("access")) ?? "READ");
  if (access === undefined) throw invalidRequest("access: expected NONE, READ, WRITE, MODIFY or DROP");
  const group = text("group", member("group"));
  const user = required("user", member("user"));
  const target = parseName("user", user, { parse: parseTarget, expected: EXPECTED_TARGET });
  const maxUses = atLeastOne("maxUses", member("maxUses"));
  return {
    path: required("path", member("path")),
    target,
    targetName: target === EVERYBODY || groupOf(target) !== undefined ? undefined : user.trim(),
    access,
    group: group || undefined,
    lifetime: parseLifetime(member("lifetime")) ?? 0,
    oneTime: parseFlag("onetime", member("onetime")),
    maxUses,
    sources: parseSources(member("sources")) ?? [],
    note: parseNote(member("note")),
    password: parsePassword(member("password")),
    quota: parseQuota(access, { files: member("maxFiles"), bytes: member("maxBytes") }),
    notify: parseFlag("notify", member("notify")),
  };
}

/** Parses a note. @throws {ERR_INVALID_REQUEST} */
export function parseNote(value: unknown): string | undefined {
  const note = text("note", value)?.trim() ?? "";
  if (note.length > MAX_NOTE_LENGTH || hasForbiddenCharacter(note)) {
    throw invalidRequest(`note: expected a line of at most ${MAX_NOTE_LENGTH} characters`);
  }
  return note === "" ? undefined : note;
}

/** Parses a link password. @throws {ERR_INVALID_REQUEST} */
export function parsePassword(value: unknown): Secret | undefined {
  const password = text("password", value) ?? "";
  if (password.length > MAX_PASSWORD_LENGTH || hasForbiddenCharacter(password)) {
    throw invalidRequest(
      `password: expected at most ${MAX_PASSWORD_LENGTH} characters, none of them for control`,
    );
  }
  return password === "" ? undefined : new Secret(password);
}

function parseQuota(access: AccessLevel, { files, bytes }: Record<keyof Quota, unknown>): Quota | undefined {
  const quota = { files: atLeastOne("maxFiles", files), bytes: atLeastOne("maxBytes", bytes) };
  if (quota.files === undefined && quota.bytes === undefined) return undefined;
  if (access !== "DROP") {
    throw invalidRequest("Quotas (maxFiles, maxBytes): only shares with access DROP (upload only) have them");
  }
  return quota;
}

function atLeastOne(name: string, value: unknown): number | undefined {
  const number = wholeNumber(name, value);
  if (number !== undefined && number < 1) throw invalidRequest(`${name}: expected a number of at least 1`);
  return number;
}

/** Parses seconds, as number or text; 0 or less is unlimited. @throws {ERR_INVALID_REQUEST} */
export function parseLifetime(value: unknown): number | undefined {
  const seconds = wholeNumber("lifetime", value);
  return seconds === undefined ? undefined : Math.max(0, seconds);
}

/** Parses addresses and CIDR ranges, as an array or as text separated by commas or blanks. @throws {ERR_INVALID_REQUEST} */
export function parseSources(value: unknown): readonly string[] | undefined {
  if (value === undefined) return undefined;
  const items: unknown = typeof value === "string"
    ? value.split(/[\s,]+/).filter((item) => item !== "")
    : value;
  if (!Array.isArray(items) || items.length > MAX_SOURCES) {
    throw invalidRequest(`sources: expected a list of up to ${MAX_SOURCES} addresses or ranges`);
  }
  return items.map((item: unknown) => {
    if (typeof item === "string" && isAddressRange(item)) return item;
    throw invalidRequest("sources: expected addresses or ranges such as 192.0.2.0/24 or 2001:db8::/32");
  });
}

/** Returns the canonical form of a name. @throws {ERR_INVALID_REQUEST} */
export function parseName(
  member: string,
  name: string,
  { parse = canonicalDn, expected = "expected a distinguished name" } = {},
): string {
  return attempt(() => parse(name), HttpError, () => {
    throw invalidRequest(`${member}: ${expected}`);
  });
}

/** Parses a flag. The Java service reads other words as `false`; here they are errors, so that a limit is never lost. */
export function parseFlag(name: string, value: unknown): boolean {
  const word = typeof value === "string" ? value.toLowerCase() : value ?? "";
  if (word === true || word === "true") return true;
  if (word === false || word === "false" || word === "") return false;
  throw invalidRequest(`${name}: expected true or false`);
}

function required(name: string, value: unknown): string {
  const given = text(name, value);
  if (given === undefined || given === "") throw invalidRequest(`${name} is missing`);
  return given;
}
