import type { KeyReader } from "./key_reader.ts";
import { AUTHENTICATION, METHOD } from "./keys/authentication_keys.ts";
import { kindOf } from "./kind.ts";
import { readKinds } from "./read_kinds.ts";
import type { Known, Parts } from "./section_reader.ts";

/** The methods of authentication, in order (specification 5). */
export async function readAuthentication(
  reader: KeyReader,
  { kinds }: Known,
): Promise<Parts | undefined> {
  const { prefix } = AUTHENTICATION;
  const keys = reader.read(AUTHENTICATION);
  if (keys?.order.length === 0) {
    const expected =
      "no method of authentication, so that every caller is anonymous; expected names such as PASSWORD";
    reader.warn(`${prefix}order`, expected);
  }
  const methods = await readKinds(reader, {
    prefix,
    order: keys?.order,
    common: METHOD,
    list: kinds.methods,
  });
  const [one, other] = methods.filter((method) => kindOf(method, kinds.methods).takesAnyToken?.(method));
  if (one !== undefined && other !== undefined) {
    const expected =
      `${one.name} is shown tokens that are for ${other.name}, expected an issuer for each, and opaqueTokens for one at most`;
    reader.warn(`${prefix}order`, expected);
  }
  if (keys === undefined) return undefined;
  const { order: _, ...rest } = keys;
  return { authentication: { ...rest, methods } };
}
