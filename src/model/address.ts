/** Returns an IP address as the daemon's `inet_ntop` prints it (RFC 5952; mapped ones as IPv4); else `undefined`. */
export function canonicalAddress(text: string): string | undefined {
  if (CANONICAL_IPV4.test(text)) return text; // nearly all are IPv4
  const octets = parseAddress(text);
  return octets && format(octets);
}

const CANONICAL_IPV4 = /^(?:(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)\.){3}(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)$/;

/** Returns the canonical address of a peer without its zone (RFC 4007, 11); empty if it has disconnected. */
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
  return !address.includes("/") && rangeWithin(address, range);
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
  if (CANONICAL_IPV4.test(text)) return text.split(".").map(Number);
  if (!/^[0-9A-Fa-f:.]{2,45}$/.test(text) || !text.includes(":")) return undefined;
  const shortened = shortenedIPv6(text);
  if (shortened === undefined) return undefined;
  const octets = groupsOf(shortened).flatMap((group) => {
    const value = parseInt(group, 16);
    return [value >> 8, value & 255];
  });
  const isMapped = octets.every((octet, i) => i >= 12 || octet === (i < 10 ? 0 : 255));
  return isMapped ? octets.slice(12) : octets;
}

/** Returns the form of RFC 5952, as in the URL standard, in hexadecimal throughout. */
function shortenedIPv6(text: string): string | undefined {
  return URL.parse(`http://[${text}]`)?.hostname.slice(1, -1);
}

/** Returns the eight groups of a shortened address. */
function groupsOf(shortened: string): readonly string[] {
  const [head = [], tail] = shortened.split("::").map((part) => part === "" ? [] : part.split(":"));
  if (tail === undefined) return head;
  return [...head, ...new Array<string>(8 - head.length - tail.length).fill("0"), ...tail];
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
  const [head, tail] = [octets.slice(0, 12), octets.slice(12)];
  if (head.every((octet) => octet === 0) && (tail[0] !== 0 || tail[1] !== 0)) return `::${tail.join(".")}`;
  const hex = Uint8Array.from(octets).toHex();
  return shortenedIPv6(hex.replace(/.{4}(?=.)/g, "$&:")) ?? "";
}

/** Returns the block that counts as one client: the canonical IPv4 address, or the /64 of an IPv6 address. */
export function addressGroup(address: string): string {
  return address.includes(":") ? `${groupsOf(address).slice(0, 4).join(":")}::/64` : address;
}

/** Splits a list of hosts at blanks and commas, as the Java client does, such as `10.0.0.1, 10.0.0.2`. */
export function hostsOf(list: string): string[] {
  return list.split(/[\s,]+/).filter((host) => host !== "");
}
