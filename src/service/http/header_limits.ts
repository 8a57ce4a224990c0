import { LEGACY_SSH_HEADER, MAX_AUTHORIZATION } from "../../authentication/parse_credentials.ts";
import type { HeaderList } from "../../model/header_list.ts";
import { httpError } from "../../model/http_error.ts";
import { FORM_TOKEN_HEADER } from "../../resource/form.ts";
import { PREFERENCES_HEADER } from "../identify.ts";

/** Characters of each header that the service reads. */
export const HEADER_LIMITS: ReadonlyMap<string, number> = new Map([
  ["Accept", 1024],
  ["Access-Control-Request-Method", 32],
  ["Authorization", MAX_AUTHORIZATION],
  ["Content-Encoding", 64],
  ["Content-Length", 32],
  ["Content-Range", 256],
  ["Content-Type", 256],
  ["Cookie", 32 * 1024],
  ["Depth", 16],
  ["Destination", 8192],
  ["Host", 512],
  ["If", 4096],
  ["If-Match", 2048],
  ["If-Modified-Since", 64],
  ["If-None-Match", 2048],
  ["If-Range", 256],
  ["If-Unmodified-Since", 64],
  ["Lock-Token", 512],
  ["OC-Checksum", 256],
  ["Origin", 512],
  ["Overwrite", 16],
  ["Range", 256],
  ["Repr-Digest", 512],
  ["Sec-Fetch-Site", 64],
  ["Timeout", 256],
  ["Want-Repr-Digest", 256],
  [FORM_TOKEN_HEADER, 64],
  [LEGACY_SSH_HEADER, 2048],
  [PREFERENCES_HEADER, 4096],
  ["X-UNICORE-Consignor", 8192],
  ["X-UNICORE-Consignor-IP", 64],
  ["X-UNICORE-Gateway", 2048],
]);

/** Checks the lengths before any header is parsed. @throws {ERR_HEADER_TOO_LONG} */
export function checkHeaderLengths(headers: HeaderList): void {
  for (const [name, limit] of HEADER_LIMITS) {
    if ((headers.get(name)?.length ?? 0) > limit) throw httpError("ERR_HEADER_TOO_LONG", { name, limit });
  }
}
