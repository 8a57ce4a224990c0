import type { KeyReader } from "./key_reader.ts";
import { AUTHENTICATION, METHOD } from "./keys/authentication_keys.ts";
import { type OfKind, withKinds } from "./kind.ts";
import { readKinds } from "./read_kinds.ts";
import type { Known, Parts } from "./section_reader.ts";
import type { LogicalServerConfig } from "./service_config.ts";

/** Reads the authenticators in order (specification 5). */
export async function readAuthentication(
  reader: KeyReader,
  { kinds, servers = [] }: Known,
): Promise<Parts | undefined> {
  const { prefix } = AUTHENTICATION;
  const keys = reader.read(AUTHENTICATION);
  if (keys?.order.length === 0) {
    const expected =
      "no method of authentication, so that every caller is anonymous; expected names such as PASSWORD";
    reader.warn(`${prefix}order`, expected);
  }
  const authenticators = await readKinds(reader, {
    prefix,
    order: keys?.order,
    common: METHOD,
    list: kinds.authenticators,
  });
  const ofKinds = await withKinds(authenticators, kinds.authenticators);
  checkTokens(reader, ofKinds);
  if (keys === undefined) return undefined;
  for (const server of servers) checkLogins(reader, server, keys.order, ofKinds);
  const { order: _, ...rest } = keys;
  return { authentication: { ...rest, authenticators } };
}

/** Warns if a provider would receive another's tokens, with which it could impersonate users. */
function checkTokens(
  reader: KeyReader,
  authenticators: readonly OfKind[],
): void {
  const shown = authenticators.flatMap(({ config, kind }) => {
    const tokens = kind.takesTokens?.(config);
    return tokens === undefined ? [] : [{ name: config.name, tokens }];
  });
  for (const one of shown) {
    const sees = one.tokens === "all"
      ? ["all", "opaque", "own"]
      : one.tokens === "opaque"
      ? ["all", "opaque"]
      : [];
    const other = shown.find((other) => other !== one && sees.includes(other.tokens));
    if (other === undefined) continue;
    const expected =
      `${one.name} is shown tokens that are for ${other.name}, expected an issuer for each, and opaqueTokens for one at most`;
    return reader.warn(`${AUTHENTICATION.prefix}order`, expected);
  }
}

/** Checks that a server's required authenticators exist and provide what it requires. */
function checkLogins(
  reader: KeyReader,
  { name, logins }: LogicalServerConfig,
  order: readonly string[],
  authenticators: readonly OfKind[],
): void {
  const prefix = `authservice.server.${name}.`;
  const written = logins.methods.join(" ");
  const unknown = logins.methods.filter((authenticator) => !order.includes(authenticator));
  if (unknown.length > 0) {
    const expected = `expected methods out of ${order.join(" ")}, not ${unknown.join(" ")}`;
    reader.error(`${prefix}methods`, expected, written);
  }
  if (logins.requiredAcr.length === 0) return;
  const named = authenticators.filter(({ config }) =>
    logins.methods.length === 0 || logins.methods.includes(config.name)
  );
  const silent = named.filter(({ kind }) => kind.tellsAcr !== true);
  if (silent.length > 0 && (logins.methods.length > 0 || silent.length === named.length)) {
    const expected = `nobody gets in by ${silent.map(({ config }) => config.name).join(", ")}, which ` +
      "tell no class of the login, expected methods that do";
    reader.warn(`${prefix}requiredAcr`, expected, logins.requiredAcr.join(" "));
  }
}
