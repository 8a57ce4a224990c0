/** Complete messages of an LDAP server (RFC 4511, 4). */
import { Buffer } from "node:buffer";
import type { TlsConnection } from "../../../src/outgoing/open_tls.ts";
import { boolean, integer, octetString, sequence, tagged } from "../../pki/der.ts";

export const text = (value: string): Buffer => octetString(Buffer.from(value));

/** Returns a message with its number. */
export const message = (id: number, ...parts: readonly Uint8Array[]): Buffer =>
  sequence(integer(Buffer.of(id)), ...parts);

/** Returns the result of an operation; by default of a bind. */
export const result = (code: number, { tag = 0x61, said = "" } = {}): Buffer =>
  tagged(tag, tagged(0x0a, Buffer.of(code)), text(""), text(said));

/** Returns one entry of a search. */
export const entry = (dn: string, attributes: Readonly<Record<string, readonly string[]>>): Buffer =>
  tagged(
    0x64,
    text(dn),
    sequence(
      ...Object.entries(attributes).map(([name, values]) =>
        sequence(text(name), tagged(0x31, ...values.map(text)))
      ),
    ),
  );

/** Returns controls that include one of the password policy. */
export const policy = (error: number): Buffer =>
  tagged(
    0xa0,
    sequence(
      text("1.3.6.1.4.1.42.2.27.8.5.1"),
      boolean(false),
      octetString(sequence(tagged(0x81, Buffer.of(error)))),
    ),
  );

/** Returns a connection whose peer sends these bytes for any request. */
export function answering(
  ...parts: readonly (Uint8Array | undefined)[]
): TlsConnection & { written: Uint8Array[] } {
  const left = [...parts];
  return {
    written: [],
    read: () => Promise.resolve(left.shift()),
    write(bytes) {
      this.written.push(bytes);
      return Promise.resolve();
    },
    close() {},
  };
}
