import { type Diagnostic, InvalidFile } from "./diagnostic.ts";
import { readRegularFile, utf8Text } from "./regular_file.ts";

/**
 * What is wrong with a file: what its reader says or throws, or that it cannot be read.
 * @param maxBytes What it may have, as `readRegularFile()` takes it.
 */
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
