import { Buffer } from "node:buffer";
import { X509Certificate } from "node:crypto";
import { join } from "node:path";
import type { Diagnostic } from "../../model/diagnostic.ts";
import { readRegularFile } from "../../model/regular_file.ts";
import { isOf, readRevocationList, type Revocation } from "../../model/trust/revocation.ts";
import { reason } from "../load_properties.ts";
import type { TruststoreConfig } from "../service_config.ts";
import { isPem } from "./certificates.ts";
import { filesLike, isPattern } from "./glob.ts";
import { pemBlocks } from "./pem.ts";

/** Enough for half a million certificates. */
const MAX_BYTES = 32 * 1024 * 1024;

interface LoadedRevocation {
  readonly revocation: Revocation;
  readonly files: readonly string[];
}

/**
 * Loads revocation lists, PEM or DER. Unusable ones are reported and ignored: `REQUIRE` then refuses that authority's
 * certificates.
 * @param anchors To report lists of unknown signers.
 * @param now Milliseconds since the epoch.
 */
export async function loadRevocation(
  config: TruststoreConfig,
  anchors: readonly string[],
  { now, report }: {
    readonly now: number;
    readonly report: (diagnostic: Diagnostic) => void;
  },
): Promise<LoadedRevocation | undefined> {
  if (config.revocation === undefined) return undefined;
  const { mode, locations, origin } = config.revocation;
  const warn = (expected: string) => report({ severity: "warning", ...origin, expected });
  const patterns = [
    ...locations,
    ...(config.type === "openssl" ? [join(config.path, "????????.r*")] : []),
  ];
  const issuers = anchors.map((anchor) => new X509Certificate(anchor));
  const lists: string[] = [];
  const files: string[] = [];
  for (const pattern of patterns) {
    const found = isPattern(pattern) ? await filesLike(pattern) : { files: [pattern], folders: [] };
    files.push(...found.files, ...found.folders);
    for (const path of found.files) {
      try {
        const bytes = await readRegularFile(path, MAX_BYTES);
        for (const der of listsIn(bytes)) {
          const list = readRevocationList(der);
          if (list.to < now) {
            warn(`${path}: expected a newer revocation list, this one held until ${day(list.to)}`);
          } else if (!issuers.some((issuer) => isOf(list, issuer))) {
            warn(
              `${path}: no trusted authority signed this revocation list, it counts if one in between did`,
            );
          }
          lists.push(Buffer.from(der).toString("base64"));
        }
      } catch (error) {
        const why = error instanceof TypeError
          ? `expected a revocation list: ${error.message}`
          : reason(error);
        warn(`${path}: ${why}`);
      }
    }
  }
  if (mode === "REQUIRE" && lists.length === 0) {
    warn(
      "without revocation lists no certificate will do, expected crlLocations.1 with files such as conf/crl/*.pem",
    );
  }
  return { revocation: { mode, lists }, files };
}

function listsIn(bytes: Uint8Array): readonly Uint8Array[] {
  if (!isPem(bytes)) return [bytes];
  const blocks = pemBlocks(new TextDecoder().decode(bytes)).filter(({ label }) => label === "X509 CRL")
    .toArray();
  if (blocks.length === 0) throw new TypeError("there is none in the file");
  return blocks.map(({ text }) => {
    try {
      return Uint8Array.fromBase64(text.replace(/-----[^-]+-----/g, "").replace(/\s+/g, ""));
    } catch (cause) {
      throw new TypeError("it is not base64", { cause });
    }
  });
}

function day(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}
