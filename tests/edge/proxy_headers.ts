import { Buffer } from "node:buffer";

/** Header that HAProxy 2.6 sends with `send-proxy` for a client on another machine. */
export const V1 = Buffer.from("PROXY TCP4 192.0.2.7 192.0.2.1 56324 9000\r\n");

const SIGNATURE = [0x0d, 0x0a, 0x0d, 0x0a, 0x00, 0x0d, 0x0a, 0x51, 0x55, 0x49, 0x54, 0x0a];
/** Source and destination of {@link V1}. */
export const IPV4 = [192, 0, 2, 7, 192, 0, 2, 1, 0xdc, 0x04, 0x23, 0x28];

/** Returns a header of version 2 (proxy-protocol.txt, 2.2). @param length Default: that of the rest. */
export function binaryHeader(
  { version = 0x21, family = 0x11, rest = IPV4, length = rest.length }: {
    readonly version?: number;
    readonly family?: number;
    readonly rest?: readonly number[];
    readonly length?: number;
  } = {},
): Buffer {
  return Buffer.from([...SIGNATURE, version, family, length >> 8, length & 255, ...rest]);
}
