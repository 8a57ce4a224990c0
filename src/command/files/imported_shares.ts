import { counted } from "../../model/counted.ts";
import { formatDiagnostic } from "../../model/diagnostic.ts";
import type { Imported } from "../../sharing/administration.ts";

/** Output of a share import with `--json`. */
export const IMPORTED = {
  "added": "Number of imported shares",
  "present[]": "Ids of shares that existed already",
  "ended": "Number of skipped expired shares",
  "refused": "Number of rejected shares",
  "diagnostics[]?": "Reasons for the rejections, one per line",
} as const;

/** Returns the report of a share import. */
export function importedReport({ added, present, ended, refused, diagnostics }: Imported): {
  readonly value: unknown;
  readonly text: string;
} {
  const why = diagnostics.map(formatDiagnostic);
  const left = [
    ...present.length > 0 ? [`${present.length} there already`] : [],
    ...ended > 0 ? [`${ended} expired`] : [],
    ...refused > 0 ? [`${refused} not imported:`] : [],
  ];
  return {
    value: { added, present, ended, refused, diagnostics: why },
    text: `${[`${counted(added, "share", "shares")} imported`, ...left].join(", ")}\n${
      why.map((line) => `  ${line}\n`).join("")
    }`,
  };
}
