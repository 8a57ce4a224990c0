import { InvalidFile, type Problem } from "./problem.ts";
import { readRegularFile, utf8Text } from "./regular_file.ts";

/**
 * What is wrong with a file: what its reader says or throws, or that it cannot be read.
 * @param maxBytes What it may have, as `readRegularFile()` takes it.
 */
export async function inspectFile(
  file: string,
  problemsOf: (text: string, file: string) => readonly Problem[] | Promise<readonly Problem[]>,
  maxBytes?: number,
): Promise<readonly Problem[]> {
  try {
    return await problemsOf(utf8Text(await readRegularFile(file, maxBytes), file), file);
  } catch (error) {
    if (error instanceof InvalidFile) return error.problems;
    const reason = error instanceof Error ? error.message : String(error);
    return [{ severity: "error", file, expected: `cannot be read: ${reason}` }];
  }
}
