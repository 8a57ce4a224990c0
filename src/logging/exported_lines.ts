import type { Console } from "./log_file.ts";

/** Reports whether the runtime sends console messages by OTLP, and prints none of them. */
export function exportsLines(environment: (name: string) => string | undefined): boolean {
  return environment("OTEL_DENO") === "true" && environment("OTEL_DENO_CONSOLE") === "replace";
}

/** Hands each line to the runtime, with its level, and writes it. */
export function exportedLines(write: Console): Console {
  return (text) => {
    for (const line of text.trimEnd().split("\n")) console[levelOf(line)](line);
    write(text);
  };
}

const LEVELS = ["debug", "info", "warn", "error"] as const;

/** Reads the level of a line of text or JSON; other lines, such as those of the audit stream, are information. */
function levelOf(line: string) {
  const word = line.startsWith("{") ? /"level":"(\w+)"/.exec(line)?.[1] : line.split(" ", 2)[1];
  return LEVELS.find((level) => level === word) ?? "info";
}
