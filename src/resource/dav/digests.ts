import { Buffer } from "node:buffer";
import type { ChecksumAlgorithm, DaemonSession } from "../../daemon/session/daemon_session.ts";
import type { HeaderList } from "../../model/http_message.ts";
import { httpError } from "../../model/http_error.ts";

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

/** Returns the digest of an uploaded file by `Repr-Digest` or `OC-Checksum`; undefined without a known one. */
export function announcedDigest(headers: HeaderList): Digest | undefined {
  for (const [name, algorithm] of REPR) {
    const value = new RegExp(`(?:^|,)\\s*${name}=:([A-Za-z0-9+/=]{1,100}):`, "i").exec(
      headers.get("Repr-Digest") ?? "",
    );
    if (value !== null) return { algorithm, hex: Buffer.from(value[1] ?? "", "base64").toString("hex") };
  }
  const [, name = "", hex = ""] =
    /^\s*(\w{1,10}):([0-9a-f]{1,128})\s*$/i.exec(headers.get("OC-Checksum") ?? "") ?? [];
  const algorithm = OWNCLOUD.get(name.toLowerCase());
  return algorithm && { algorithm, hex: hex.toLowerCase() };
}

/** Compares an uploaded file. @throws {ERR_DIGEST_MISMATCH} */
export async function verifyDigest(
  session: DaemonSession,
  path: string,
  size: number,
  announced: Digest | undefined,
) {
  if (announced === undefined) return;
  if (await session.checksum(path, announced.algorithm, size) !== announced.hex) {
    throw httpError("ERR_DIGEST_MISMATCH");
  }
}

/** Returns the value of `Repr-Digest` that `Want-Repr-Digest` asks for; undefined if it asks for none. */
export async function wantedDigest(
  session: DaemonSession,
  path: string,
  size: number,
  headers: HeaderList,
): Promise<string | undefined> {
  const wanted = headers.get("Want-Repr-Digest") ?? "";
  const weight = (name: string) =>
    Number(new RegExp(`(?:^|,)\\s*${name}=(\\d{1,2})`, "i").exec(wanted)?.[1] ?? 0);
  const [best] = [...REPR].filter(([name]) => weight(name) > 0).sort(([a], [b]) => weight(b) - weight(a));
  if (best === undefined) return undefined;
  const [name, algorithm] = best;
  return `${name}=:${Buffer.from(await session.checksum(path, algorithm, size), "hex").toString("base64")}:`;
}
