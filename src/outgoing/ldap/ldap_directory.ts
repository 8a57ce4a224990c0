import { FilterParser } from "ldapts";
import type { Outgoing, TlsRemote } from "../outgoing.ts";
import {
  type RemoteStatus,
  RemoteSystem,
  type RemoteSystemOptions,
  type Requester,
} from "../remote_system.ts";
import { RemoteUnavailable } from "../remote_unavailable.ts";
import { type BindResult, LdapConnection, type LdapResult, type LdapSearch } from "./ldap_connection.ts";
import { type LdapEntry, nameOf, STATUS_ATTRIBUTES, userInName, valuesOf } from "./ldap_entry.ts";
import { type LdapConfig, ldapRemote } from "./ldap_keys.ts";
import type { Origin } from "../../config/service_config.ts";
import { userKey } from "../../model/credentials.ts";
import { type Diagnostic, InvalidFile } from "../../model/diagnostic.ts";
import { canonicalDn, sameName } from "../../model/distinguished_name.ts";
import { fillName, namesIn } from "../../model/name_template.ts";
import { messageOf, trimEndCharacters } from "../../model/text.ts";
import { type ProbeAnswer, PROBER } from "../probed_kind.ts";

export interface LdapParts extends Pick<RemoteSystemOptions, "clock" | "elapsed" | "log"> {
  readonly outgoing: Outgoing;
}

const SUCCESS = 0;
const SIZE_LIMIT_EXCEEDED = 4;
const NO_SUCH_OBJECT = 32;
/** Results of a search for one entry that the server cannot have (34: it does not know names of this form). */
const NO_ENTRY: readonly number[] = [NO_SUCH_OBJECT, 34];
/** Results of a bind that concern the user, not the server (RFC 4511, appendix A); 19 and 53: locked in 389ds. */
const REFUSED: readonly number[] = [19, NO_SUCH_OBJECT, 48, 49, 53];
const IDLE_MS = 25_000;
const ANY_ENTRY = "(objectClass=*)";

/** `search`: bound as the service; `bind`: checks passwords, never searches. */
type Purpose = "search" | "bind";

/** One LDAP server with its circuit breaker, and connections that are kept between requests. */
export class LdapServer {
  readonly #remote: TlsRemote;
  readonly #system: RemoteSystem;
  readonly #idle = { search: new Map<LdapConnection, number>(), bind: new Map<LdapConnection, number>() };
  readonly #attempts = new Set<() => void>(); // functions that stop the requests under way
  #closed = false;

  constructor(readonly address: string, readonly config: LdapConfig, readonly parts: LdapParts) {
    this.#remote = ldapRemote(address, config);
    this.#system = new RemoteSystem({ ...parts, address, maxConcurrent: parts.outgoing.connectionsPerHost });
  }

  status(): RemoteStatus {
    return this.#system.status();
  }

  /** Searches for the first entries as the service; finds none without the base entry. @throws {RemoteUnavailable} */
  async search(search: LdapSearch, caller: Requester): Promise<readonly LdapEntry[]> {
    return await this.#run("search", caller, async (connection) => {
      const { entries, ...result } = await connection.search(search);
      if (NO_ENTRY.includes(result.code) && search.scope === "base") return [];
      // Fewer than asked for: the limit is the server's.
      const isCut = result.code === SIZE_LIMIT_EXCEEDED && entries.length >= search.most;
      if (result.code !== SUCCESS && !isCut) throw this.#unusable("a search", result);
      return entries;
    });
  }

  /** Tries a password. @throws {RemoteUnavailable} Unless the server accepts or refuses it. */
  async bind(dn: string, password: string, caller: Requester): Promise<BindResult> {
    return await this.#run("bind", caller, async (connection) => {
      const result = await connection.bind(dn, password);
      if (result.code !== SUCCESS && !REFUSED.includes(result.code)) throw this.#unusable("a login", result);
      return result;
    });
  }

  close(): void {
    this.#closed = true;
    for (const stop of this.#attempts) stop();
    for (const idle of Object.values(this.#idle)) {
      for (const connection of idle.keys()) connection.close();
      idle.clear();
    }
  }

  #unusable(what: string, { code, text }: LdapResult): RemoteUnavailable {
    return this.#system.unusable(`answers ${what} with code ${code} ${text.slice(0, 200)}`.trimEnd());
  }

  #run<T>(purpose: Purpose, caller: Requester, use: (connection: LdapConnection) => Promise<T>): Promise<T> {
    return this.#system.run(caller, async () => {
      // By hand, since `AbortSignal.any` is expensive for each request.
      const attempt = new AbortController();
      const stop = () => attempt.abort();
      const { timeoutMs } = this.config;
      const timer = setTimeout(() => attempt.abort(new Error(`no answer within ${timeoutMs} ms`)), timeoutMs);
      caller.signal.addEventListener("abort", stop, { once: true });
      this.#attempts.add(stop);
      try {
        caller.signal.throwIfAborted();
        return await this.#exchange(purpose, attempt.signal, use);
      } catch (error) {
        const { aborted, reason: why } = attempt.signal;
        if (error instanceof RemoteUnavailable && !aborted) throw error;
        const found: unknown = aborted ? why : error;
        const reason = found instanceof Error ? found.message : "no answer";
        const connected = !(error instanceof RemoteUnavailable) || error.connected;
        throw new RemoteUnavailable(this.#system.remote, reason, { cause: error, connected });
      } finally {
        clearTimeout(timer);
        caller.signal.removeEventListener("abort", stop);
        this.#attempts.delete(stop);
      }
    });
  }

  /** Servers close idle connections: one that does so before any answer is replaced, once. */
  async #exchange<T>(
    purpose: Purpose,
    signal: AbortSignal,
    use: (connection: LdapConnection) => Promise<T>,
  ): Promise<T> {
    for (let kept = this.#take(purpose);; kept = undefined) {
      const connection = kept ?? await this.#open(purpose, signal);
      try {
        const result = await closingOn(signal, connection, () => use(connection));
        if (!this.#closed) this.#idle[purpose].set(connection, performance.now());
        else connection.close();
        return result;
      } catch (error) {
        connection.close();
        if (kept === undefined || connection.answered || signal.aborted) throw error;
      }
    }
  }

  #take(purpose: Purpose): LdapConnection | undefined {
    const idle = this.#idle[purpose];
    for (const [connection, since] of [...idle].reverse()) {
      idle.delete(connection);
      if (performance.now() - since < IDLE_MS) return connection;
      connection.close();
    }
    return undefined;
  }

  async #open(purpose: Purpose, signal: AbortSignal): Promise<LdapConnection> {
    const connection = new LdapConnection(await this.parts.outgoing.connect(this.#remote, signal));
    const { bindDN, bindPassword } = this.config;
    if (purpose === "bind" || bindDN === undefined || bindPassword === undefined) return connection;
    try {
      const result = await closingOn(signal, connection, () => connection.bind(bindDN, bindPassword));
      if (result.code !== SUCCESS) throw this.#unusable("the login of this service as bindDN", result);
      return connection;
    } catch (error) {
      connection.close();
      throw error;
    }
  }
}

async function closingOn<T>(
  signal: AbortSignal,
  connection: LdapConnection,
  use: () => Promise<T>,
): Promise<T> {
  const close = () => connection.close();
  signal.addEventListener("abort", close, { once: true });
  try {
    signal.throwIfAborted();
    return await use();
  } finally {
    signal.removeEventListener("abort", close);
  }
}

/** Escapes the special characters of a value in a filter (RFC 4515, 3). */
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
    // The parser of ldapts 9.2.0 does not notice that the last ones are missing.
    if (filled.split("(").length !== filled.split(")").length) throw new Error("unbalanced parentheses");
    return [];
  } catch (error) {
    const expected = `expected a search filter (RFC 4515): ${messageOf(error)}`;
    return [{ severity: "error", ...origin, found: filter, expected }];
  }
}

/** Server to ask on a caller's behalf. */
export interface Asked {
  readonly server: LdapServer;
  readonly caller: Requester;
}

type FoundUser =
  | { readonly kind: "found"; readonly entry: LdapEntry }
  | { readonly kind: "none" | "several" };

/** LDAP servers with the same content, asked in order: the next one only if an earlier one gives no answer. */
export class LdapDirectory {
  readonly #servers: readonly LdapServer[];
  readonly compared: readonly string[]; // attributes that may equal a user's name; empty if others decide too

  constructor(readonly config: LdapConfig, parts: LdapParts) {
    const diagnostics = inspectFilter(config.userFilter, config.userFilterOrigin);
    if (diagnostics.length > 0) throw new InvalidFile(diagnostics);
    const compared = [...config.userFilter.matchAll(/\(([\w-]+)=%user%\)/g)].map(([, name = ""]) => name);
    this.compared = compared.length === config.userFilter.split("%user%").length - 1 ? compared : [];
    this.#servers = config.addresses.map((address) => new LdapServer(address, config, parts));
  }

  /** Returns the status of one server; without an address, of the first that is up. */
  status(address?: string): RemoteStatus | undefined {
    const all = this.#servers.filter((server) => address === undefined || server.address === address)
      .map((server) => server.status());
    return all.find(({ up, since }) => up && since !== undefined) ?? all[0];
  }

  /** Runs requests on one server, the first that answers. @throws {RemoteUnavailable} The last server's. */
  async ask<T>(caller: Requester, use: (server: LdapServer) => Promise<T>): Promise<T> {
    let failure: RemoteUnavailable | undefined;
    for (const server of this.#servers) {
      try {
        return await use(server);
      } catch (error) {
        if (!(error instanceof RemoteUnavailable) || caller.signal.aborted) throw error;
        failure = error;
      }
    }
    throw failure ?? new RemoteUnavailable("LDAP", "no server is configured");
  }

  /**
   * Finds the entry of a user, with {@link STATUS_ATTRIBUTES}. Servers that ignore accents find more spellings than the
   * login throttle, see {@link userKey}. @throws {RemoteUnavailable}
   */
  async findUser(user: string, wanted: readonly string[], { server, caller }: Asked): Promise<FoundUser> {
    const { userBase: base, userFilter } = this.config;
    const filter = fillFilter(userFilter, { user });
    const attributes = [...new Set([...wanted, ...STATUS_ATTRIBUTES, ...this.compared])];
    const found = onlyOne(await server.search({ base, scope: "sub", filter, attributes, most: 2 }, caller));
    if (found.kind !== "found") return found;
    const names = this.compared.flatMap((name) => valuesOf(found.entry, name)).map(userKey);
    return names.length === 0 || names.includes(userKey(user)) ? found : { kind: "none" };
  }

  /**
   * Like {@link findUser}, by the name that {@link nameOf} returns. An entry whose template has several values, one of
   * them of this name, counts as several: its lock or limit may concern the user. @throws {RemoteUnavailable}
   */
  async findName(dn: string, wanted: readonly string[], { server, caller }: Asked): Promise<FoundUser> {
    const { dnTemplate, userBase, userFilter } = this.config;
    const user = dnTemplate && userInName(dn, dnTemplate);
    if (dnTemplate !== undefined && user === undefined) return { kind: "none" };
    if (dnTemplate === undefined && !isBelow(dn, userBase)) return { kind: "none" };
    const attributes = [...wanted, ...STATUS_ATTRIBUTES];
    // Any user name; other comparisons (RFC 4515, 3) have no such form.
    const filter = /[:~<>]=%user%/.test(userFilter) ? ANY_ENTRY : userFilter.replaceAll("%user%", "*");
    const search = { base: dn, scope: "base", filter, attributes, most: 2 } as const;
    const found = user !== undefined
      ? await this.findUser(user, wanted, { server, caller })
      : onlyOne(await server.search(search, caller));
    if (found.kind !== "found") return found;
    const isNamed = (name: string | undefined) => name !== undefined && sameName(name, dn);
    if (isNamed(nameOf(found.entry, dnTemplate))) return found;
    const one = fillName(dnTemplate ?? "", (name) => {
      const values = valuesOf(found.entry, name);
      return values.find((value) => userKey(value) === userKey(user ?? "")) ?? values[0];
    });
    return { kind: isNamed(one) ? "several" : "none" };
  }

  /** Probes one server: login of the service, base entry and the test user. @throws {RemoteUnavailable} */
  async probe(address: string): Promise<ProbeAnswer> {
    const server = this.#servers.find((server) => server.address === address);
    if (server === undefined) throw new TypeError(`no server ${address}`);
    const { userBase, testUser, bindDN, dnTemplate } = this.config;
    const base = { base: userBase, filter: ANY_ENTRY, attributes: ["1.1"] };
    const [entry] = await server.search({ ...base, scope: "base", most: 1 }, PROBER);
    const bound = bindDN === undefined ? "searches anonymously" : `binds as ${bindDN}`;
    if (entry === undefined) return { ok: false, found: `${bound}; there is no entry ${userBase}` };
    if (testUser === undefined) return { ok: true, found: `${bound}; finds ${userBase}` };
    const found = await this.findUser(testUser, namesIn(dnTemplate ?? ""), { server, caller: PROBER });
    if (found.kind !== "found") {
      const entries = found.kind === "none" ? "no entry" : "several entries";
      return { ok: false, found: `${bound}; userFilter finds ${entries} for ${testUser}` };
    }
    const ok = nameOf(found.entry, dnTemplate) !== undefined;
    const named = ok ? "" : "; the entry has not one value for each attribute of dnTemplate";
    return { ok, found: `${bound}; finds ${testUser} as ${found.entry.dn}${named}` };
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
