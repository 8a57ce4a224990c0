import { type Diagnostic, InvalidFile } from "./diagnostic.ts";
import { readRegularFile, utf8Text } from "./regular_file.ts";

/** Returns the diagnostics of a file's reader, or that it cannot be read. @param maxBytes As in `readRegularFile()`. */
export async function inspectFile(
  file: string,
  diagnosticsOf: (text: string, file: string) => readonly Diagnostic[] | Promise<readonly Diagnostic[]>,
  maxBytes?: number,
): Promise<readonly Diagnostic[]> {
  try {
    return await diagnosticsOf(utf8Text(await readRegularFile(file, maxBytes), file), file);
  } catch (error) {
    if (error instanceof InvalidFile) return error.diagnostics;
    const reason = error instanceof Error ? error.message : String(error);
    return [{ severity: "error", file, expected: `cannot be read: ${reason}` }];
  }
}
