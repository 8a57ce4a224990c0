import { Buffer } from "node:buffer";
import { canonicalAddress } from "../model/address.ts";

type ProxyHeader =
  | { readonly kind: "begun" }
  | { readonly kind: "absent" }
  | { readonly kind: "malformed"; readonly reason: string }
  | {
    readonly kind: "whole";
    readonly length: number;
    /** Client's canonical address; absent (use the peer's) for `LOCAL` and anything but TCP over IP. */
    readonly client?: string | undefined;
  };

const MAX_V1 = 107; // longest line of version 1 (proxy-protocol.txt, 2.1)
const MAX_V2 = 536; // version 2 arrives in one segment, of at least 536 bytes (RFC 9293, 3.7.1)
const FIXED_V2 = 16; // bytes before the addresses

const V1 = Buffer.from("PROXY ");
const V2 = Buffer.from("\r\n\r\n\0\r\nQUIT\n", "latin1");

/** Parses a PROXY header of version 1 or 2 (proxy-protocol.txt, 2.1 and 2.2), ignoring TLVs. */
export function readProxyHeader(bytes: Uint8Array): ProxyHeader {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, MAX_V2));
  if (beginsAs(V1, buffer)) return buffer.length < V1.length ? { kind: "begun" } : readLine(buffer);
  if (beginsAs(V2, buffer)) return buffer.length < FIXED_V2 ? { kind: "begun" } : readBinary(buffer);
  return { kind: "absent" };
}

function beginsAs(signature: Buffer, bytes: Buffer): boolean {
  const length = Math.min(signature.length, bytes.length);
  return signature.subarray(0, length).equals(bytes.subarray(0, length));
}

function malformed(reason: string): ProxyHeader {
  return { kind: "malformed", reason };
}

/** Parses `PROXY TCP4 192.0.2.7 192.0.2.1 56324 9000`, or `PROXY UNKNOWN …`. */
function readLine(buffer: Buffer): ProxyHeader {
  const text = buffer.toString("latin1", 0, MAX_V1);
  const end = text.indexOf("\r\n");
  if (end === -1) {
    return text.length < MAX_V1 ? { kind: "begun" } : malformed(`no end of line in ${MAX_V1} bytes`);
  }
  const length = end + 2;
  const [, family, ...rest] = text.slice(0, end).split(" ");
  if (family === "UNKNOWN") return { kind: "whole", length };
  if (family !== "TCP4" && family !== "TCP6") return malformed("expected TCP4, TCP6 or UNKNOWN");
  const [source = "", destination = "", ...ports] = rest;
  const separator = family === "TCP4" ? "." : ":";
  const [client, server] = [source, destination].map((shown) =>
    shown.includes(separator) ? canonicalAddress(shown) : undefined
  );
  if (client === undefined || server === undefined) return malformed(`expected two addresses of ${family}`);
  const arePorts = ports.every((port) => /^(?:0|[1-9]\d{0,4})$/.test(port) && Number(port) <= 65_535);
  if (ports.length !== 2 || !arePorts) return malformed("expected two ports, and nothing more");
  return { kind: "whole", length, client };
}

/** Greatest valid address family and protocol, high and low half of a byte. */
const [LAST_FAMILY, LAST_PROTOCOL] = [3, 2];
const [TCP_OVER_IPV4, TCP_OVER_IPV6] = [0x11, 0x21];
/** Bytes of addresses and ports. */
const ADDRESS_BYTES: ReadonlyMap<number, number> = new Map([[TCP_OVER_IPV4, 12], [TCP_OVER_IPV6, 36]]);

function readBinary(buffer: Buffer): ProxyHeader {
  const [version, family] = [buffer.readUInt8(12), buffer.readUInt8(13)];
  const length = FIXED_V2 + buffer.readUInt16BE(14);
  const command = version & 15;
  if (version >> 4 !== 2) return malformed(`expected version 2, not ${version >> 4}`);
  if (command > 1) return malformed(`expected LOCAL or PROXY, not command ${command}`);
  if (length > MAX_V2) return malformed(`expected at most ${MAX_V2} bytes, not ${length}`);
  if (command === 1) {
    if (family >> 4 > LAST_FAMILY || (family & 15) > LAST_PROTOCOL) {
      return malformed(`expected a known family and protocol, not 0x${family.toString(16)}`);
    }
    const least = FIXED_V2 + (ADDRESS_BYTES.get(family) ?? 0);
    if (length < least) return malformed(`expected at least ${least} bytes for the addresses, not ${length}`);
  }
  if (buffer.length < length) return { kind: "begun" };
  const client = command === 1 ? clientOf(family, buffer.subarray(FIXED_V2)) : undefined;
  return { kind: "whole", length, client };
}

function clientOf(family: number, addresses: Buffer): string | undefined {
  if (family === TCP_OVER_IPV4) return addresses.subarray(0, 4).join(".");
  if (family !== TCP_OVER_IPV6) return undefined;
  const groups = Array.from({ length: 8 }, (_, i) => addresses.readUInt16BE(2 * i).toString(16));
  return canonicalAddress(groups.join(":"));
}
