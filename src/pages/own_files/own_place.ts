import type { Files } from "../../files/files.ts";
import { withoutSlash } from "../../model/absolute_path.ts";
import type { Listing } from "../../resource/access/listing.ts";
import { encodePath } from "../../resource/access/share_facts.ts";
import type { Call } from "../../resource/call.ts";

/** File or directory of the caller's, as a page shows it. */
export interface OwnPlace {
  readonly files: Files;
  readonly server: string;
  readonly path: string; // absolute; a directory ends in a slash
  readonly href: string; // its address
}

/** Returns the address of a path on a server. */
export function hrefOf({ root }: Pick<Call, "root">, server: string, path: string): string {
  return `${root}files/${encodeURIComponent(server)}${encodePath(path)}`;
}

/** Returns links from the root directory down to a directory. */
export function trailOf(call: Call, server: string, directory: string): Listing["trail"] {
  const names = withoutSlash(directory).split("/").slice(1).filter((name) => name !== "");
  return ["", ...names].map((name, i) => ({
    name: i === 0 ? server : name,
    href: hrefOf(call, server, `/${names.slice(0, i).map((each) => `${each}/`).join("")}`),
  }));
}
