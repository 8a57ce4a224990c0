import { canonicalDn, InvalidName, reversedForm } from "../model/distinguished_name.ts";
import type { WrittenName } from "../config/kind.ts";
import type { Diagnostic } from "../model/diagnostic.ts";

/**
 * Warns of names without a user that match a user with their parts in reverse: names are compared in order, so such a ban
 * has no effect.
 * @param known Names of users.
 */
export function namesInOtherOrder(known: readonly string[], written: readonly WrittenName[]): Diagnostic[] {
  const users = new Set(known.flatMap(formsOf).map(({ form }) => form));
  const entries = written.flatMap((name) => formsOf(name.key).map((forms) => ({ ...name, ...forms })));
  const earlier = new Map<string, string>();
  return entries.flatMap(({ file, line, key, form, reversed }): Diagnostic[] => {
    earlier.set(form, `${file}:${line}`);
    if (form === reversed || users.has(form)) return [];
    const place = users.has(reversed) ? "the file of users" : earlier.get(reversed);
    if (place === undefined) return [];
    const expected =
      `expected ${reversed} as in ${place}: with its parts in the other order it is another name`;
    return [{ severity: "warning", file, line, key: key.slice(0, 200), expected }];
  });
}

function formsOf(text: string): readonly { readonly form: string; readonly reversed: string }[] {
  try {
    return [{ form: canonicalDn(text), reversed: reversedForm(text) }];
  } catch (error) {
    if (error instanceof InvalidName) return [];
    throw error;
  }
}
