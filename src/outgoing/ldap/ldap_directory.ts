import { FilterParser } from "ldapts";
import type { Origin } from "../../config/service_config.ts";
import { type Diagnostic, InvalidFile } from "../../model/diagnostic.ts";
import { canonicalDn, sameName } from "../../model/distinguished_name.ts";
import { trimEndCharacters } from "../../model/text.ts";
import type { ProbeAnswer } from "../probed_kind.ts";
import type { Asker, RemoteStatus } from "../remote_system.ts";
import { RemoteUnavailable } from "../remote_unavailable.ts";
import { type LdapEntry, nameOf, userInName } from "./ldap_entry.ts";
import type { LdapConfig } from "./ldap_keys.ts";
import { type LdapParts, LdapServer } from "./ldap_server.ts";

/** Value of a filter with its special characters escaped (RFC 4515, 3). */
export function escapeFilterValue(value: string): string {
  return value.replace(/[\\*()\0]/g, (found) => `\\${found.charCodeAt(0).toString(16).padStart(2, "0")}`);
}

/** Fills values between percent signs into a filter, escaped. */
export function fillFilter(filter: string, values: Readonly<Record<string, string>>): string {
  return filter.replace(/%(\w+)%/g, (written, name) => {
    const value = Object.hasOwn(values, name) ? values[name] : undefined;
    return value === undefined ? written : escapeFilterValue(value);
  });
}

/** Returns a diagnostic unless a text is a search filter. */
export function inspectFilter(filter: string, origin: Origin): readonly Diagnostic[] {
  try {
    const filled = fillFilter(filter, { user: "x", dn: "x" });
    FilterParser.parseString(filled);
    // The parser of ldapts 9.2.0 does not miss the last ones.
    if (filled.split("(").length !== filled.split(")").length) throw new Error("unbalanced parentheses");
    return [];
  } catch (error) {
    const expected = `expected a search filter (RFC 4515): ${error instanceof Error ? error.message : error}`;
    return [{ severity: "error", ...origin, found: filter, expected }];
  }
}

/** Result of a search for one user. */
export type FoundUser =
  | { readonly kind: "found"; readonly entry: LdapEntry }
  | { readonly kind: "none" | "several" };

/** LDAP servers with the same content, asked in order: the next one only if an earlier one gives no answer. */
export class LdapDirectory {
  readonly #servers: readonly LdapServer[];

  constructor(readonly config: LdapConfig, parts: LdapParts) {
    const diagnostics = inspectFilter(config.userFilter, config.userFilterOrigin);
    if (diagnostics.length > 0) throw new InvalidFile(diagnostics);
    this.#servers = config.addresses.map((address) => new LdapServer(address, config, parts));
  }

  /** Returns the status of one server; without an address, of the first that is up. */
  status(address?: string): RemoteStatus | undefined {
    const all = this.#servers.filter((server) => address === undefined || server.address === address)
      .map((server) => server.status());
    return all.find(({ up, since }) => up && since !== undefined) ?? all[0];
  }

  /** Runs requests on one server, the first that answers. @throws {RemoteUnavailable} The last server's. */
  async ask<T>(asker: Asker, use: (server: LdapServer) => Promise<T>): Promise<T> {
    let failure: RemoteUnavailable | undefined;
    for (const server of this.#servers) {
      try {
        return await use(server);
      } catch (error) {
        if (!(error instanceof RemoteUnavailable) || asker.signal.aborted) throw error;
        failure = error;
      }
    }
    throw failure ?? new RemoteUnavailable("LDAP", "no server is configured");
  }

  /** Searches the only entry of a user name. @throws {RemoteUnavailable} */
  async findUser(
    user: string,
    attributes: readonly string[],
    { server, asker }: { readonly server: LdapServer; readonly asker: Asker },
  ): Promise<FoundUser> {
    const { userBase: base, userFilter } = this.config;
    const filter = fillFilter(userFilter, { user });
    return onlyOne(await server.search({ base, scope: "sub", filter, attributes, most: 2 }, asker));
  }

  /** Searches the entry of a user by the name that {@link nameOf} gives. @throws {RemoteUnavailable} */
  async findName(
    dn: string,
    attributes: readonly string[],
    { server, asker }: { readonly server: LdapServer; readonly asker: Asker },
  ): Promise<FoundUser> {
    const { dnTemplate, userBase } = this.config;
    const user = dnTemplate && userInName(dn, dnTemplate);
    if (dnTemplate !== undefined && user === undefined) return { kind: "none" };
    if (dnTemplate === undefined && !isBelow(dn, userBase)) return { kind: "none" };
    const found = user !== undefined ? await this.findUser(user, attributes, { server, asker }) : onlyOne(
      await server.search({ base: dn, scope: "base", filter: "(objectClass=*)", attributes, most: 2 }, asker),
    );
    if (found.kind !== "found") return found;
    const name = nameOf(found.entry, dnTemplate);
    return name !== undefined && sameName(name, dn) ? found : { kind: "none" };
  }

  /** Probes one server: login of the service, base entry and the test user. @throws {RemoteUnavailable} */
  async probe(address: string, asker: Asker): Promise<ProbeAnswer> {
    const server = this.#servers.find((server) => server.address === address);
    if (server === undefined) throw new TypeError(`no server ${address}`);
    const { userBase, testUser, bindDN } = this.config;
    const base = {
      base: userBase,
      scope: "base",
      filter: "(objectClass=*)",
      attributes: ["1.1"],
      most: 1,
    } as const;
    const [entry] = await server.search(base, asker);
    const bound = bindDN === undefined ? "searches anonymously" : `binds as ${bindDN}`;
    if (entry === undefined) return { ok: false, found: `${bound}; there is no entry ${userBase}` };
    if (testUser === undefined) return { ok: true, found: `${bound}; finds ${userBase}` };
    const found = await this.findUser(testUser, ["1.1"], { server, asker });
    if (found.kind === "found") {
      return { ok: true, found: `${bound}; finds ${testUser} as ${found.entry.dn}` };
    }
    const entries = found.kind === "none" ? "no entry" : "several entries";
    return { ok: false, found: `${bound}; userFilter finds ${entries} for ${testUser}` };
  }

  close(): void {
    for (const server of this.#servers) server.close();
  }
}

/** Reports whether a name ends with a base, at a comma that separates. */
function isBelow(name: string, base: string): boolean {
  const [whole, end] = [canonicalDn(name), canonicalDn(base)];
  if (whole === end) return true;
  const start = whole.slice(0, -end.length - 1);
  const escapes = start.length - trimEndCharacters(start, "\\").length;
  return whole.endsWith(`,${end}`) && escapes % 2 === 0;
}

function onlyOne([entry, other]: readonly LdapEntry[]): FoundUser {
  if (entry === undefined) return { kind: "none" };
  return other === undefined ? { kind: "found", entry } : { kind: "several" };
}
