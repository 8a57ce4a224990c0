import { trimCharacters } from "../../../model/text.ts";
import { eachLine } from "../../../model/time_slicing.ts";
import { parseDuration } from "../../../model/clock.ts";
import type { Diagnostic } from "../../../model/diagnostic.ts";
import { decodePublicKey, isSshKeyType, type SshPublicKey } from "../public_key.ts";
import { splitOptions, splitWord } from "../line_words.ts";
import { parseSourceAddresses, type SourceAddresses } from "../source_addresses.ts";
import { UnusableKey } from "../wire_reader.ts";

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

/** Parsed authorities with diagnostics. */
export interface AuthoritiesFile {
  readonly authorities: ReadonlyMap<string, CertificateAuthority>; // by key fingerprint
  readonly diagnostics: readonly Diagnostic[];
}

const MAX_LINE_LENGTH = 16_384; // UTF-16 units

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

/** Parses the options of an authority. @throws {UnusableKey} */
function parseAuthorityOptions(options: string, publicKey: SshPublicKey): CertificateAuthority {
  return { publicKey, ...readOptions(options) };
}

/** Parses a user's own `cert-authority` line; `undefined` for other lines. */
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

/** Strips the `known_hosts` marker and hosts. */
function withoutMark(line: string): string {
  const [first, rest] = splitWord(line);
  if (first !== MARK) return line;
  const [next, key] = splitWord(rest);
  return isSshKeyType(next) ? rest : key;
}

const OPTION = /([A-Za-z0-9-]+)(?:=(?:"([^"]*)"|([^",\s]*)))?(,|$)/y; // name with a quoted or bare value

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
/** Options with their expected values. */
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
