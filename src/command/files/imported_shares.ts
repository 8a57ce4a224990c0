import { counted } from "../../model/text.ts";
import { formatDiagnostic } from "../../model/diagnostic.ts";
import type { Imported } from "../../sharing/administration.ts";

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
