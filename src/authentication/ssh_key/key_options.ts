import { parseSourceAddresses, type SourceAddresses } from "./source_addresses.ts";
import { UnusableKey } from "./wire_reader.ts";

/** Conditions from `authorized_keys` options. */
export interface KeyConditions {
  readonly from?: SourceAddresses;
  readonly expires?: number; // last valid second since the epoch
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

/**
 * Parses options like OpenSSH (sshd(8), authentication.md 3.9).
 * @throws {UnusableKey} If they forbid use here, are unknown or malformed.
 */
export function parseKeyOptions(text: string): KeyConditions {
  let from: SourceAddresses | undefined;
  let expires: number | undefined;
  for (const { name, value } of splitOptions(text)) {
    const forbidden = REFUSED.get(name);
    if (forbidden !== undefined) throw new UnusableKey(`option ${name}: ${forbidden}`);
    if (name === "from" && value !== undefined) {
      if (from !== undefined) throw new UnusableKey("option from: given twice");
      from = parseSourceAddresses(value);
      if (from === undefined) throw new UnusableKey("option from: expected addresses, ranges or patterns");
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

/** Like `strtonum`. */
function isNumber(text: string, least: number, most: number): boolean {
  return /^[ \t]*\+?\d{1,20}$/.test(text) && Number(text) >= least && Number(text) <= most;
}

const MAX_HOST = 1025; // `NI_MAXHOST`

function splitOptions(text: string): { name: string; value?: string }[] {
  const option = /([A-Za-z0-9-]+)(?:="((?:\\"|\\(?!")|[^"\\])*)")?(,|$)/y;
  const list: { name: string; value?: string }[] = [];
  let separator: string | undefined = ",";
  while (separator === ",") {
    const found = option.exec(text);
    if (found === null) throw new UnusableKey("options cannot be read");
    separator = found[3];
    list.push({ name: (found[1] ?? "").toLowerCase(), value: found[2]?.replaceAll('\\"', '"') });
  }
  return list;
}

/** Parses `YYYYMMDD[HHMM[SS]]`, local or UTC with `Z` or `UTC`, to seconds since the epoch. */
function parseExpiryTime(text: string): number | undefined {
  const found = /^(\d{4})(\d\d)(\d\d)(?:(\d\d)(\d\d)(\d\d)?)?(Z|UTC)?$/i.exec(text);
  if (found === null) return undefined;
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = found.slice(1, 7).map((part) =>
    Number(part ?? 0)
  );
  const utc = Date.UTC(year, month - 1, day, hour, minute, second);
  // Invalid days would roll over into the next month.
  const given = [year, month - 1, day, hour, minute, second].join();
  const date = new Date(utc);
  const read = [
    date.getUTCFullYear(),
    date.getUTCMonth(),
    date.getUTCDate(),
    date.getUTCHours(),
    date.getUTCMinutes(),
    date.getUTCSeconds(),
  ].join();
  if (given !== read || year < 1970) return undefined;
  const time = found[7] === undefined ? new Date(year, month - 1, day, hour, minute, second).getTime() : utc;
  return Math.floor(time / 1000);
}
