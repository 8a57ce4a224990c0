import { attempt } from "../../model/attempt.ts";
import { addressInRange, canonicalAddress, isAddressRange } from "../../model/address.ts";
import type { Diagnostic } from "../../model/diagnostic.ts";
import { parseDuration } from "../../model/clock.ts";
import { eachLine } from "../../model/time_slicing.ts";
import { trimCharacters } from "../../model/text.ts";
import { matchesWildcards } from "../../model/wildcards.ts";
import { decodePublicKey, isSshKeyType, type SshPublicKey, UnusableKey } from "./public_key.ts";

export interface AuthorizedKey {
  readonly publicKey: SshPublicKey;
  readonly conditions: {
    readonly from?: SourceAddresses;
    readonly expires?: number; // last valid second since the epoch
  };
  readonly issues?: CertificateAuthority; // present for `cert-authority`: only its certificates authenticate
}

/** Certificate authority with the operator's conditions. */
export interface CertificateAuthority {
  readonly publicKey: SshPublicKey;
  /** Allowed principals, as patterns with `*`, `?` and `!`; absent: all. */
  readonly principals: readonly string[] | undefined;
  /** Required `ssh-domain-grant@core.aai.geant.org`, in lower case (EuroHPC). */
  readonly domain: string | undefined;
  readonly maxLifetime: number | undefined; // longest validity of a certificate, in seconds
  readonly from: SourceAddresses | undefined; // further limit on client addresses
}

export interface AuthoritiesFile {
  readonly authorities: ReadonlyMap<string, CertificateAuthority>; // by key fingerprint
  readonly diagnostics: readonly Diagnostic[];
}

type KeyLine =
  | { readonly kind: "key"; readonly key: AuthorizedKey }
  | { readonly kind: "empty" }
  | { readonly kind: "refused"; readonly reason: string }; // unusable key; the reason quotes nothing of it

const MAX_LINE_LENGTH = 16_384; // UTF-16 units

/** Parses a line like sshd(8), "AUTHORIZED_KEYS FILE FORMAT": only the word after the type is ever a key. */
export function parseKeyLine(line: string): KeyLine {
  if (line.length > MAX_LINE_LENGTH) return { kind: "refused", reason: "line is too long" };
  const text = trimCharacters(line, " \t\r\n");
  if (text === "" || text.startsWith("#")) return { kind: "empty" };
  return attempt(
    () => ({ kind: "key", key: parseKey(text) }),
    UnusableKey,
    ({ message }) => ({ kind: "refused", reason: message }),
  );
}

function parseKey(text: string): AuthorizedKey {
  const isPlain = isKeyTypeName(splitWord(text)[0]);
  const [options, key] = isPlain ? ["", text] : splitOptions(text);
  const conditions = isPlain ? {} : parseKeyOptions(options);
  const [type, rest] = splitWord(key);
  if (isSshKeyType(type)) return { publicKey: decodePublicKey(type, splitWord(rest)[0]), conditions };
  throw new UnusableKey(
    isKeyTypeName(type) ? "key type is not supported" : "no key type where one belongs",
  );
}

function isKeyTypeName(word: string): boolean {
  return /^(?:ssh-|ecdsa-|sk-|webauthn-|rsa-sha2-)/.test(word);
}

/** Returns why a key's conditions are not met. @param now Milliseconds since the epoch. */
export function unmetCondition(
  { conditions: { from, expires } }: AuthorizedKey,
  { clientAddress, now }: { readonly clientAddress: string; readonly now: number },
): string | undefined {
  if (expires !== undefined && Math.floor(now / 1000) > expires) return "the key has expired";
  if (from !== undefined && !mayComeFrom(from, clientAddress)) return "the key may not be used from there";
  return undefined;
}

/**
 * Parses authorities: public keys with options as in `authorized_keys` (`cert-authority` is implied), or
 * `@cert-authority` lines of `known_hosts`, whose hosts are ignored.
 */
export async function parseAuthorities(text: string, file: string): Promise<AuthoritiesFile> {
  const authorities = new Map<string, CertificateAuthority>();
  const diagnostics: Diagnostic[] = [];
  await eachLine(text, (whole, number) => {
    const line = trimCharacters(whole, " \t");
    if (line === "" || line.startsWith("#")) return;
    const fix = `remove ${file}:${number}, or write it anew with the public key of the authority`;
    const report = (expected: string) =>
      diagnostics.push({ severity: "error", file, line: number, expected, fix });
    attempt(
      () => {
        const authority = parseAuthority(line);
        const { fingerprint } = authority.publicKey;
        if (!authorities.has(fingerprint)) authorities.set(fingerprint, authority);
        else report("expected each authority once, this one stands above already");
      },
      UnusableKey,
      ({ message }) => report(`authority is not used: ${message}`),
    );
  });
  return { authorities, diagnostics };
}

/** Parses a user's own `cert-authority` line; `undefined` for other lines. */
export function authorityInLine(keyLine: string): CertificateAuthority | undefined {
  const text = trimCharacters(keyLine, " \t\r\n");
  const read = () =>
    splitOptions(text)[0].toLowerCase().split(",").includes("cert-authority")
      ? parseAuthority(text)
      : undefined;
  return attempt(read, UnusableKey, () => undefined);
}

function parseAuthority(line: string): CertificateAuthority {
  if (line.length > MAX_LINE_LENGTH) throw new UnusableKey("line is too long");
  const text = withoutMark(line);
  const [options, key] = isSshKeyType(splitWord(text)[0]) ? ["", text] : splitOptions(text);
  const [type, rest] = splitWord(key);
  if (!isSshKeyType(type)) {
    throw new UnusableKey("expected options if any, then a key type of use, then the key");
  }
  return { publicKey: decodePublicKey(type, splitWord(rest)[0]), ...parseAuthorityOptions(options) };
}

/** Strips the `known_hosts` marker and hosts. */
function withoutMark(line: string): string {
  const [first, rest] = splitWord(line);
  if (first !== "@cert-authority") return line;
  const [next, key] = splitWord(rest);
  return isSshKeyType(next) ? rest : key;
}

function splitWord(text: string): [string, string] {
  const end = text.search(/[ \t]/);
  return end < 0 ? [text, ""] : [text.slice(0, end), text.slice(end).replace(/^[ \t]+/, "")];
}

/** Splits off options up to the first blank outside quotes. @throws {UnusableKey} If nothing follows. */
function splitOptions(text: string): [string, string] {
  let quoted = false;
  for (let at = 0; at < text.length; at++) {
    const character = text[at];
    if (character === "\\" && text[at + 1] === '"') at++;
    else if (character === '"') quoted = !quoted;
    else if (!quoted && (character === " " || character === "\t")) {
      return [text.slice(0, at), text.slice(at).replace(/^[ \t]+/, "")];
    }
  }
  throw new UnusableKey("no key type where one belongs");
}

/** Name, value in quotes (optional for authorities), and separator. */
const KEY_OPTION = /([A-Za-z0-9-]+)(?:="((?:\\"|\\(?!")|[^"\\])*)")?(,|$)/y;
const AUTHORITY_OPTION = /([A-Za-z0-9-]+)(?:=(?:"([^"]*)"|([^",\s]*)))?(,|$)/y;

/** Yields names in lower case, with their values. @throws {UnusableKey} */
function* optionsIn(text: string, option: RegExp): Generator<[name: string, value: string | undefined]> {
  option.lastIndex = 0;
  for (let separator: string | undefined = ","; separator === ",";) {
    const found: readonly (string | undefined)[] | null = option.exec(text);
    if (found === null) throw new UnusableKey("options cannot be read");
    const [, name = "", quoted, plain] = found;
    separator = found.at(-1);
    yield [name.toLowerCase(), quoted?.replaceAll('\\"', '"') ?? (found.length > 4 ? plain : undefined)];
  }
}

/** Flags about shells and forwarding, also with `no-`. */
const HARMLESS_FLAGS = new Set([
  "agent-forwarding",
  "port-forwarding",
  "pty",
  "user-rc",
  "x11-forwarding",
  "touch-required",
  "verify-required",
]);
/** Options about shells and forwarding with OpenSSH's syntax checks (`auth-options.c`). */
const HARMLESS_VALUES: ReadonlyMap<string, (value: string) => boolean> = new Map([
  ["environment", (value) => /^[A-Za-z0-9_]+=/.test(value)],
  ["permitlisten", (value) => isForwarding(value.includes(":") ? value : `*:${value}`)],
  ["permitopen", isForwarding],
  ["tunnel", (value) => /^any$/i.test(value) || isNumber(value, 0, 0x7ffffffd)],
]);

/** Options that forbid a login here, with the reason. */
const REFUSED: ReadonlyMap<string, string> = new Map([
  ["command", "the key may run only one command"],
  ["cert-authority", "the key signs certificates, it is no user's"],
  ["principals", "the key signs certificates, it is no user's"],
]);

/** Parses options like OpenSSH (sshd(8), credentials.md 3.9). @throws {UnusableKey} If they forbid use here, are unknown or malformed. */
function parseKeyOptions(text: string): AuthorizedKey["conditions"] {
  let from: SourceAddresses | undefined;
  let expires: number | undefined;
  for (const [name, value] of [...optionsIn(text, KEY_OPTION)]) {
    const forbidden = REFUSED.get(name);
    if (forbidden !== undefined) throw new UnusableKey(`option ${name}: ${forbidden}`);
    if (name === "from" && value !== undefined) {
      if (from !== undefined) throw new UnusableKey("option from: given twice");
      from = readSources(value);
    } else if (name === "expiry-time" && value !== undefined) {
      const time = parseExpiryTime(value);
      if (time === undefined) {
        throw new UnusableKey("option expiry-time: expected YYYYMMDD[HHMM[SS]], with Z if it is UTC");
      }
      expires = Math.min(expires ?? time, time);
    } else if (!isHarmless(name, value)) {
      throw new UnusableKey("unknown option, or one without a value that it can have");
    }
  }
  return { from, expires };
}

function isHarmless(name: string, value: string | undefined): boolean {
  if (value !== undefined) return HARMLESS_VALUES.get(name)?.(value) ?? false;
  return name === "restrict" || HARMLESS_FLAGS.has(name.replace(/^no-/, ""));
}

/** `host:port`, `[address]:port`, or with `/`; the port is a number or `*`. */
function isForwarding(value: string): boolean {
  const [, host = "", port = ""] = /^(\[[^\]]*\]|[^\[:\/][^:\/]*|)[:\/](.*)$/.exec(value) ?? [];
  if (host.length >= MAX_HOST) return false;
  return port === "*" || isNumber(port, 1, 65535);
}

function isNumber(text: string, least: number, most: number): boolean {
  return /^[ \t]*\+?\d{1,20}$/.test(text) && Number(text) >= least && Number(text) <= most;
}

const MAX_HOST = 1025; // `NI_MAXHOST`

/** Parses `YYYYMMDD[HHMM[SS]]`, local or UTC with `Z` or `UTC`, to seconds since the epoch. */
function parseExpiryTime(text: string): number | undefined {
  const [, digits, zone] = /^(\d{8}(?:\d{4}(?:\d\d)?)?)(Z|UTC)?$/i.exec(text) ?? [];
  if (digits === undefined) return undefined;
  const all = digits.padEnd(14, "0");
  const [year = 0, month = 0, ...rest] = (all.match(/^\d{4}|\d\d/g) ?? []).map(Number);
  const parts = [year, month - 1, ...rest] as const;
  const utc = Date.UTC(...parts);
  // Invalid days would roll over into the next month.
  if (year < 1970 || new Date(utc).toISOString().replace(/\D/g, "").slice(0, 14) !== all) return undefined;
  return Math.floor((zone === undefined ? new Date(...parts).getTime() : utc) / 1000);
}

const NO_VALUE = "no value";
const EXPECTED: ReadonlyMap<string, string> = new Map([
  ["cert-authority", NO_VALUE],
  ["principals", "names or patterns, separated by commas"],
  ["domain", "a domain such as example.org"],
  ["maxlifetime", "a time such as 24h"],
  ["from", "addresses, ranges or patterns"],
  ["source-address", "addresses, ranges or patterns"],
]);

function parseAuthorityOptions(text: string): Omit<CertificateAuthority, "publicKey"> {
  const values = new Map<string, string | undefined>();
  for (const [name, value] of text === "" ? [] : optionsIn(text, AUTHORITY_OPTION)) {
    if (values.has(name)) throw new UnusableKey(`option ${name}: given twice`);
    values.set(name, value);
  }
  for (const [name, value] of values) {
    const expected = EXPECTED.get(name);
    if (expected === undefined) {
      throw new UnusableKey(`unknown option, expected ${[...EXPECTED.keys()].join(", ")}`);
    }
    if (expected === NO_VALUE ? value !== undefined : (value ?? "") === "") {
      throw new UnusableKey(`option ${name}: expected ${expected}`);
    }
  }
  const lifetime = values.get("maxlifetime");
  const maxLifetime = lifetime === undefined ? undefined : parseDuration(lifetime);
  if (lifetime !== undefined && maxLifetime === undefined) {
    throw new UnusableKey("option maxlifetime: expected a time such as 24h");
  }
  const from = values.get("from") ?? values.get("source-address");
  return {
    principals: values.get("principals")?.split(","),
    domain: values.get("domain")?.toLowerCase(),
    maxLifetime,
    from: from === undefined ? undefined : readSources(from),
  };
}

type SourceAddresses = readonly SourceAddress[];

interface SourceAddress {
  readonly negated: boolean;
  readonly pattern: string; // address, range, or pattern with `*` and `?`
  readonly kind: "range" | "wildcards";
}

function readSources(text: string): SourceAddresses {
  const sources = parseSourceAddresses(text);
  if (sources === undefined) throw new UnusableKey("option from: expected addresses, ranges or patterns");
  return sources;
}

/** Parses `from=` (sshd(8), PATTERNS in ssh_config(5)). Returns `undefined` for an empty entry or wrong range, which OpenSSH refuses too. */
export function parseSourceAddresses(value: string): SourceAddresses | undefined {
  const list: SourceAddress[] = [];
  for (const entry of value.split(",")) {
    const negated = entry.startsWith("!");
    const pattern = entry.slice(negated ? 1 : 0).toLowerCase();
    const kind = isAddressRange(pattern) ? "range" : "wildcards";
    if (pattern === "" || (kind === "wildcards" && /[/\s]/.test(pattern))) return undefined;
    list.push({ negated, pattern, kind });
  }
  return list;
}

/** Reports whether an entry and no negated one matches. Host names are not resolved and never match. */
export function mayComeFrom(sources: SourceAddresses, address: string): boolean {
  const canonical = canonicalAddress(address);
  if (canonical === undefined) return false;
  const matching = sources.filter(({ kind, pattern }) =>
    kind === "range" ? addressInRange(canonical, pattern) : matchesWildcards(canonical, pattern)
  );
  return matching.length > 0 && matching.every(({ negated }) => !negated);
}
