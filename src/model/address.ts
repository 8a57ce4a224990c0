/** Returns an IP address as the daemon's `inet_ntop` prints it (RFC 5952; mapped ones as IPv4); else `undefined`. */
export function canonicalAddress(text: string): string | undefined {
  if (CANONICAL_IPV4.test(text)) return text; // nearly all are IPv4
  const octets = parseAddress(text);
  return octets && format(octets);
}

const CANONICAL_IPV4 = /^(?:(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)\.){3}(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)$/;

/** Returns the canonical address of a peer without its zone (RFC 4007, 11); empty if it is gone. */
export function peerAddress(shown: string): string {
  const zone = shown.indexOf("%");
  return canonicalAddress(zone === -1 ? shown : shown.slice(0, zone)) ?? "";
}

/** Returns `::ffff:192.0.2.7` for `192.0.2.7`, as a dual-stack daemon sees the peer; `undefined` for IPv6. */
export function mappedTwin(text: string): string | undefined {
  const octets = parseAddress(text);
  return octets?.length === 4 ? `::ffff:${octets.join(".")}` : undefined;
}

/** Reports whether a text is an address or a range (`192.0.2.0/24`) without bits set after the prefix. */
export function isAddressRange(text: string): boolean {
  return parseRange(text) !== undefined;
}

/** Reports whether a range is larger than any one owner's network: wider than an IPv4 /8 or an IPv6 /7. */
export function isWideRange(text: string): boolean {
  const range = parseRange(text);
  return range !== undefined && range.prefix < (range.octets.length === 4 ? 8 : 7);
}

/** Reports whether a range contains an address. Invalid input never matches: deny rules validate first. */
export function addressInRange(address: string, range: string): boolean {
  const octets = parseAddress(address);
  const parsed = parseRange(range);
  return octets !== undefined && parsed !== undefined && octets.length === parsed.octets.length &&
    octets.every((octet, i) => ((octet ^ (parsed.octets[i] ?? 0)) & mask(parsed.prefix, i)) === 0);
}

/** Reports whether one range or address lies within another; false for invalid input. */
export function rangeWithin(inner: string, outer: string): boolean {
  const [narrow, wide] = [parseRange(inner), parseRange(outer)];
  return narrow !== undefined && wide !== undefined && narrow.prefix >= wide.prefix &&
    narrow.octets.length === wide.octets.length &&
    narrow.octets.every((octet, i) => ((octet ^ (wide.octets[i] ?? 0)) & mask(wide.prefix, i)) === 0);
}

/** 4 or 16 bytes; mapped addresses have 4. */
type Octets = readonly number[];

function parseAddress(text: string): Octets | undefined {
  if (text.length > 45) return undefined;
  if (!text.includes(":")) return parseIPv4(text);
  const octets = parseIPv6(text);
  return octets && isMapped(octets) ? octets.slice(12) : octets;
}

function parseIPv4(text: string): Octets | undefined {
  const parts = text.split(".");
  if (parts.length !== 4 || !parts.every((part) => /^(?:0|[1-9]\d{0,2})$/.test(part))) return undefined;
  const octets = parts.map(Number);
  return octets.every((octet) => octet <= 255) ? octets : undefined;
}

function parseIPv6(text: string): Octets | undefined {
  const halves = text.split("::");
  if (halves.length > 2) return undefined;
  const head = parseGroups(halves[0] ?? "", halves.length === 1);
  const tail = halves.length === 1 ? [] : parseGroups(halves[1] ?? "", true);
  if (head === undefined || tail === undefined) return undefined;
  const missing = 16 - head.length - tail.length;
  // `::` stands for at least one group of zeros.
  if (halves.length === 1 ? missing !== 0 : missing < 2) return undefined;
  return [...head, ...new Array<number>(missing).fill(0), ...tail];
}

/** Parses groups between colons; a dotted IPv4 address may replace the last two at the end of the address. */
function parseGroups(text: string, atEnd: boolean): Octets | undefined {
  if (text === "") return [];
  const octets: number[] = [];
  const groups = text.split(":");
  for (const [i, group] of groups.entries()) {
    const dotted = atEnd && i === groups.length - 1 && group.includes(".") ? parseIPv4(group) : undefined;
    if (dotted !== undefined) octets.push(...dotted);
    else if (/^[0-9a-fA-F]{1,4}$/.test(group)) {
      const value = parseInt(group, 16);
      octets.push(value >> 8, value & 255);
    } else return undefined;
  }
  return octets;
}

function isMapped(octets: Octets): boolean {
  return octets.every((octet, i) => i >= 12 || octet === (i < 10 ? 0 : 255));
}

function parseRange(text: string): { readonly octets: Octets; readonly prefix: number } | undefined {
  const slash = text.indexOf("/");
  const written = slash < 0 ? text : text.slice(0, slash);
  const octets = parseAddress(written);
  if (octets === undefined) return undefined;
  const bits = octets.length * 8;
  if (slash < 0) return { octets, prefix: bits };
  const digits = text.slice(slash + 1);
  if (!/^(?:0|[1-9]\d{0,2})$/.test(digits)) return undefined;
  // The prefix of a mapped range counts from the start of the IPv6 address.
  const prefix = Number(digits) - (written.includes(":") && bits === 32 ? 96 : 0);
  if (prefix < 0 || prefix > bits) return undefined;
  return octets.every((octet, i) => (octet & ~mask(prefix, i) & 255) === 0) ? { octets, prefix } : undefined;
}

/** Returns the bits of the byte at an index that a prefix covers. */
function mask(prefix: number, index: number): number {
  const covered = Math.min(8, Math.max(0, prefix - index * 8));
  return (0xff00 >> covered) & 0xff;
}

function format(octets: Octets): string {
  if (octets.length === 4) return octets.join(".");
  const groups: number[] = [];
  for (let i = 0; i < 16; i += 2) groups.push((octets[i] ?? 0) * 256 + (octets[i + 1] ?? 0));
  const { start, length } = longestZeros(groups);
  if (start === 0 && length === 6) return `::${octets.slice(12).join(".")}`;
  const hex = groups.map((group) => group.toString(16));
  if (length < 2) return hex.join(":");
  return `${hex.slice(0, start).join(":")}::${hex.slice(start + length).join(":")}`;
}

function longestZeros(groups: readonly number[]): { start: number; length: number } {
  let best = { start: 0, length: 0 };
  let start = 0;
  for (const [i, group] of groups.entries()) {
    if (group !== 0) start = i + 1;
    else if (i + 1 - start > best.length) best = { start, length: i + 1 - start };
  }
  return best;
}

/** Returns the block that counts as one client: the canonical IPv4 address, or the /64 of an IPv6 address. */
export function addressGroup(address: string): string {
  if (!address.includes(":")) return address;
  const [head = "", tail] = address.split("::");
  const groups = head === "" ? [] : head.split(":");
  if (tail !== undefined) {
    const end = tail === "" ? [] : tail.split(":");
    while (groups.length + end.length < 8) groups.push("0");
    groups.push(...end);
  }
  return `${groups.slice(0, 4).join(":")}::/64`;
}

/** Splits a comma-separated list of hosts, such as `10.0.0.1, 10.0.0.2`. */
export function hostsOf(list: string): string[] {
  return list.split(",").map((host) => host.trim()).filter((host) => host !== "");
}
