import type { KindInspection } from "../../config/kind.ts";
import { inspectFile } from "../../model/regular_file.ts";
import type { Diagnostic } from "../../model/diagnostic.ts";
import type { MapFormat } from "./map_file.ts";
import type { Matching } from "./map_index.ts";
import { inspectMapFile, type MapInspection } from "./map_inspection.ts";

/** Checks a map file and its server names for the operator. */
export async function inspectMap(
  { file, matching, format }: {
    readonly file: string;
    readonly matching: Matching;
    readonly format: MapFormat | undefined;
  },
  { servers, alone }: { readonly servers: readonly string[] | undefined; readonly alone: boolean },
): Promise<KindInspection> {
  let map: MapInspection | undefined;
  const diagnostics = await inspectFile(file, async (text) => {
    map = await inspectMapFile(text, { file, matching, format, alone });
    const unknown = map.servers.filter(({ server }) => servers?.includes(server) === false);
    return [
      ...map.diagnostics,
      ...unknown.map(({ server, line }): Diagnostic => ({
        severity: "warning",
        file,
        line,
        found: server,
        expected: `no such server, expected one of authservice.servers: ${servers?.join(" ") ?? ""}`,
      })),
    ];
  });
  return { diagnostics, written: map?.names.map((name) => ({ ...name, file })), matches: map?.matches };
}
