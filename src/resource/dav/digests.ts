import { Buffer } from "node:buffer";
import type { ChecksumAlgorithm } from "../../daemon/session/control_connection.ts";
import type { DaemonSession } from "../../daemon/session/daemon_session.ts";
import type { HeaderList } from "../../model/http_message.ts";
import { httpError, invalidRequest } from "../../model/http_error.ts";

/** Algorithms by name in `Repr-Digest` (RFC 9530, 5); the first is preferred. */
const REPR: ReadonlyMap<string, ChecksumAlgorithm> = new Map([
  ["sha-256", "SHA-256"],
  ["sha-512", "SHA-512"],
  ["sha", "SHA-1"],
  ["md5", "MD5"],
]);

/** Algorithms by name in `OC-Checksum`. */
const OWNCLOUD: ReadonlyMap<string, ChecksumAlgorithm> = new Map([
  ["sha256", "SHA-256"],
  ["sha1", "SHA-1"],
  ["md5", "MD5"],
]);

interface Digest {
  readonly algorithm: ChecksumAlgorithm;
  readonly hex: string;
}

/** Returns the members of a dictionary whose values hold no comma (RFC 9651, 3.2); the last member of a name wins. */
function membersOf(text: string): ReadonlyMap<string, string> {
  return new Map(
    text.split(",").map((member) => {
      const [name = "", ...value] = member.split("=");
      return [name.trim(), value.join("=").trim()];
    }),
  );
}

/**
 * Returns the digest of an uploaded file by `Repr-Digest` or `OC-Checksum`; undefined without a known algorithm.
 * @throws {ERR_INVALID_REQUEST} The value for a known algorithm is malformed.
 */
export function announcedDigest(headers: HeaderList): Digest | undefined {
  const members = membersOf(headers.get("Repr-Digest") ?? "");
  for (const [name, algorithm] of REPR) {
    const member = members.get(name);
    if (member === undefined) continue;
    const [, base64] = /^:([A-Za-z0-9+/]{1,100}={0,2}):$/.exec(member) ?? [];
    if (base64 === undefined) throw invalidRequest(`Repr-Digest: expected base64 between colons for ${name}`);
    return { algorithm, hex: Buffer.from(base64, "base64").toString("hex") };
  }
  const [name = "", hex = ""] = (headers.get("OC-Checksum") ?? "").trim().split(":");
  const algorithm = OWNCLOUD.get(name.toLowerCase());
  if (algorithm === undefined) return undefined;
  if (!/^[0-9a-f]{32,128}$/i.test(hex)) {
    throw invalidRequest("OC-Checksum: expected <algorithm>:<hexadecimal digits>");
  }
  return { algorithm, hex: hex.toLowerCase() };
}

/** Compares an uploaded file. @throws {ERR_DIGEST_MISMATCH} */
export async function verifyDigest(
  session: Pick<DaemonSession, "checksum">,
  path: string,
  size: number,
  announced: Digest | undefined,
) {
  if (announced === undefined) return;
  if (await session.checksum(path, announced.algorithm, size) !== announced.hex) {
    throw httpError("ERR_DIGEST_MISMATCH");
  }
}

/** Returns the algorithm that `Want-Repr-Digest` asks for; undefined if it asks for none. */
export function wantedAlgorithm(headers: HeaderList): ChecksumAlgorithm | undefined {
  const wanted = membersOf(headers.get("Want-Repr-Digest") ?? "");
  const weight = (name: string) => /^\d{1,2}$/.test(wanted.get(name) ?? "") ? Number(wanted.get(name)) : 0;
  const [best] = [...REPR].filter(([name]) => weight(name) > 0).sort(([a], [b]) => weight(b) - weight(a));
  return best?.[1];
}

/** Returns the value of `Repr-Digest`. */
export function reprDigest(algorithm: ChecksumAlgorithm, hex: string): string {
  const [name] = [...REPR].find(([, known]) => known === algorithm) ?? [];
  return `${name}=:${Buffer.from(hex, "hex").toString("base64")}:`;
}
