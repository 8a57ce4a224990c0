import type { KeyReader } from "./key_reader.ts";
import { PERSISTENCE, SHARE } from "./keys/sharing_keys.ts";
import type { SharingConfig } from "./service_config.ts";

/**
 * Data sharing (rest-api.md 3.6).
 * @param servers Names of all logical servers, for the check; `undefined` if they could not be read.
 */
export function readSharing(
  reader: KeyReader,
  servers: readonly string[] | undefined,
): SharingConfig | undefined {
  const share = reader.read(SHARE);
  const persistence = reader.read(PERSISTENCE);
  if (share === undefined || persistence === undefined) return undefined;
  const stranger = servers === undefined ? undefined : share.servers.find((name) => !servers.includes(name));
  if (stranger !== undefined) {
    const expected = `expected names out of authservice.servers, not ${stranger}`;
    reader.error("share.servers", expected, share.servers.join(" "));
  }
  const { directory } = persistence;
  if (stranger === undefined && share.servers.length > 0 && directory === undefined) {
    const expected = "expected persistence.directory too, the folder of the share database";
    reader.error("share.servers", expected, share.servers.join(" "));
  }
  return { ...share, directory };
}
