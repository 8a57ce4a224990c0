import { readRegularFileSync, utf8Text } from "../model/regular_file.ts";
import { InvalidFile } from "../model/diagnostic.ts";
import { UnexpectedValue } from "./key.ts";
import { reason } from "./load_properties.ts";

const MAX_BYTES = 64 * 1024;

/**
 * Reads a secret: one line of UTF-8 text, without its line end. Reads synchronously, as keys are read.
 * @param path Absolute.
 * @throws {UnexpectedValue} For an unreadable file, an empty one, and several lines.
 */
export function readSecretFile(path: string): string {
  const secret = textOf(path).replace(/\r?\n$/, "");
  if (secret.trim() === "") {
    throw new UnexpectedValue(`expected a secret in ${path}, the file is empty`, false);
  }
  if (/[\r\n\0]/.test(secret)) {
    throw new UnexpectedValue(`expected the secret alone in ${path}, in one line`, false);
  }
  return secret;
}

function textOf(path: string): string {
  try {
    return utf8Text(readRegularFileSync(path, MAX_BYTES), path);
  } catch (error) {
    const why = error instanceof InvalidFile ? error.diagnostics[0]?.expected : undefined;
    throw new UnexpectedValue(`cannot read ${path}: ${why ?? reason(error)}`, false);
  }
}
