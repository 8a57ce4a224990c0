import { trimCharacters } from "../../../model/trim.ts";
import { eachLine } from "../../../model/time_slicing.ts";
import { parseDuration } from "../../../model/duration.ts";
import type { Diagnostic } from "../../../model/diagnostic.ts";
import { decodePublicKey, isSshKeyType, type SshPublicKey } from "../public_key.ts";
import { splitOptions, splitWord } from "../line_words.ts";
import { parseSourceAddresses, type SourceAddresses } from "../source_addresses.ts";
import { UnusableKey } from "../wire_reader.ts";

/** Whose signature makes a certificate count, and under which conditions of the operator. */
export interface CertificateAuthority {
  readonly publicKey: SshPublicKey;
  /** Which principals of its certificates count, as patterns with `*` and `?`, some negated by `!`; all, if none are given. */
  readonly principals: readonly string[] | undefined;
  /** What `ssh-domain-grant@core.aai.geant.org` must say, in lower case (EuroHPC). */
  readonly domain: string | undefined;
  /** Longest time between beginning and end of a certificate, in seconds. */
  readonly maxLifetime: number | undefined;
  /** Where its certificates may be used, besides what they say themselves. */
  readonly from: SourceAddresses | undefined;
}

/** What a file of authorities says, and what in it cannot be used. */
export interface AuthoritiesFile {
  /** By the fingerprint of their keys. */
  readonly authorities: ReadonlyMap<string, CertificateAuthority>;
  readonly diagnostics: readonly Diagnostic[];
}

/** Longest line that is read, in UTF-16 units. */
const MAX_LINE_LENGTH = 16_384;

/**
 * Reads lines of authorities: public keys, before them options as in `authorized_keys`, of which `cert-authority` is a
 * matter of course; or marked as in `known_hosts`, `@cert-authority * ssh-ed25519 …`, whose hosts mean nothing here.
 * @param file For the problems.
 */
export async function parseAuthorities(text: string, file: string): Promise<AuthoritiesFile> {
  const authorities = new Map<string, CertificateAuthority>();
  const diagnostics: Diagnostic[] = [];
  await eachLine(text, (whole, number) => {
    const line = trimCharacters(whole, " \t");
    if (line === "" || line.startsWith("#")) return;
    const diagnostic = { severity: "error", file, line: number } as const;
    try {
      const authority = parseLine(line);
      const { fingerprint } = authority.publicKey;
      if (authorities.has(fingerprint)) {
        diagnostics.push({
          ...diagnostic,
          expected: "expected each authority once, this one stands above already",
        });
      } else authorities.set(fingerprint, authority);
    } catch (error) {
      if (!(error instanceof UnusableKey)) throw error;
      diagnostics.push({ ...diagnostic, expected: `authority is not used: ${error.message}` });
    }
  });
  return { authorities, diagnostics };
}

/** An authority out of a line of `authorized_keys` with the option `cert-authority`. @throws {UnusableKey} */
function parseAuthorityOptions(options: string, publicKey: SshPublicKey): CertificateAuthority {
  return { publicKey, ...readOptions(options) };
}

/** An authority as a user's own `authorized_keys` names it, with `cert-authority`; undefined if the line is another one. */
export function authorityInLine(line: string): CertificateAuthority | undefined {
  if (line.length > MAX_LINE_LENGTH) return undefined;
  const text = trimCharacters(line, " \t\r\n");
  try {
    const isMarked = splitOptions(text)[0].toLowerCase().split(",").includes("cert-authority");
    return isMarked ? parseLine(text) : undefined;
  } catch (error) {
    if (error instanceof UnusableKey) return undefined;
    throw error;
  }
}

const MARK = "@cert-authority";

function parseLine(line: string): CertificateAuthority {
  if (line.length > MAX_LINE_LENGTH) throw new UnusableKey("line is too long");
  const text = withoutMark(line);
  const isPlain = isSshKeyType(splitWord(text)[0]);
  const [options, key] = isPlain ? ["", text] : splitOptions(text);
  const [type, rest] = splitWord(key);
  if (!isSshKeyType(type)) {
    throw new UnusableKey("expected options if any, then a key type of use, then the key");
  }
  return parseAuthorityOptions(options, decodePublicKey(type, splitWord(rest)[0]));
}

/** A line without the mark of `known_hosts` and the hosts behind it. */
function withoutMark(line: string): string {
  const [first, rest] = splitWord(line);
  if (first !== MARK) return line;
  const [next, key] = splitWord(rest);
  return isSshKeyType(next) ? rest : key;
}

/** Name, and value in quotes or without. */
const OPTION = /([A-Za-z0-9-]+)(?:=(?:"([^"]*)"|([^",\s]*)))?(,|$)/y;

function readOptions(text: string): Omit<CertificateAuthority, "publicKey"> {
  const values = new Map<string, string | undefined>();
  OPTION.lastIndex = 0;
  let separator = text === "" ? "" : ",";
  while (separator === ",") {
    const [, name = "", quoted, plain, end] = OPTION.exec(text) ?? [];
    if (end === undefined) throw new UnusableKey("options cannot be read");
    separator = end;
    const key = name.toLowerCase();
    if (values.has(key)) throw new UnusableKey(`option ${key}: given twice`);
    values.set(key, quoted ?? plain);
  }
  for (const [name, value] of values) {
    const expected = EXPECTED.get(name);
    if (expected === undefined) {
      throw new UnusableKey(`unknown option, expected ${[...EXPECTED.keys()].join(", ")}`);
    }
    if (expected !== NO_VALUE && (value ?? "") === "") {
      throw new UnusableKey(`option ${name}: expected ${expected}`);
    }
    if (expected === NO_VALUE && value !== undefined) {
      throw new UnusableKey(`option ${name}: expected ${expected}`);
    }
  }
  return {
    principals: values.get("principals")?.split(","),
    domain: values.get("domain")?.toLowerCase(),
    maxLifetime: readLifetime(values.get("maxlifetime")),
    from: readSources(values.get("from") ?? values.get("source-address")),
  };
}

const NO_VALUE = "no value";
/** Options of an authority, and what their values are. */
const EXPECTED: ReadonlyMap<string, string> = new Map([
  ["cert-authority", NO_VALUE],
  ["principals", "names or patterns, separated by commas"],
  ["domain", "a domain such as example.org"],
  ["maxlifetime", "a time such as 24h"],
  ["from", "addresses, ranges or patterns"],
  ["source-address", "addresses, ranges or patterns"],
]);

function readLifetime(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const seconds = parseDuration(text);
  if (seconds === undefined) throw new UnusableKey("option maxlifetime: expected a time such as 24h");
  return seconds;
}

function readSources(text: string | undefined): SourceAddresses | undefined {
  if (text === undefined) return undefined;
  const sources = parseSourceAddresses(text);
  if (sources === undefined) throw new UnusableKey("option from: expected addresses, ranges or patterns");
  return sources;
}
