import type { Logger } from "../../logging/logger.ts";
import type { Clock, Stopwatch } from "../../model/clock.ts";
import type { Outgoing, TlsRemote } from "../outgoing.ts";
import { type Asker, type RemoteStatus, RemoteSystem } from "../remote_system.ts";
import { RemoteUnavailable } from "../remote_unavailable.ts";
import { type BindResult, LdapConnection, type LdapResult, type LdapSearch } from "./ldap_connection.ts";
import type { LdapEntry } from "./ldap_entry.ts";
import type { LdapConfig } from "./ldap_keys.ts";
import { ldapRemote } from "./ldap_remote.ts";

/** Dependencies of LDAP clients. */
export interface LdapParts {
  readonly outgoing: Outgoing;
  readonly clock: Clock;
  readonly elapsed?: Stopwatch;
  readonly log: Logger;
}

const SUCCESS = 0;
const SIZE_LIMIT_EXCEEDED = 4;
const NO_SUCH_OBJECT = 32;
/** Results of a bind that concern the user, not the server (RFC 4511, appendix A); 19 and 53: locked in 389ds. */
const REFUSED: readonly number[] = [19, NO_SUCH_OBJECT, 48, 49, 53];
const IDLE_MS = 25_000;

/** `search`: bound as the service; `bind`: checks passwords, never searches. */
type Purpose = "search" | "bind";

/** One LDAP server with its circuit breaker, and connections that are kept between requests. */
export class LdapServer {
  readonly #config: LdapConfig;
  readonly #parts: LdapParts;
  readonly #remote: TlsRemote;
  readonly #system: RemoteSystem;
  readonly #idle = { search: new Map<LdapConnection, number>(), bind: new Map<LdapConnection, number>() };
  readonly #closed = new AbortController();

  constructor(readonly address: string, config: LdapConfig, parts: LdapParts) {
    this.#config = config;
    this.#parts = parts;
    this.#remote = ldapRemote(address, config);
    this.#system = new RemoteSystem({ ...parts, address, atOnce: parts.outgoing.connectionsPerHost });
  }

  status(): RemoteStatus {
    return this.#system.status();
  }

  /** Searches as the service; without the base entry there is no entry. @throws {RemoteUnavailable} */
  async search(search: LdapSearch, asker: Asker): Promise<readonly LdapEntry[]> {
    return await this.#run("search", asker, async (connection) => {
      const { entries, ...result } = await connection.search(search);
      if (result.code === NO_SUCH_OBJECT && search.scope === "base") return [];
      if (result.code !== SUCCESS && result.code !== SIZE_LIMIT_EXCEEDED) {
        throw this.#unusable("a search", result);
      }
      return entries;
    });
  }

  /** Tries a password. @throws {RemoteUnavailable} Unless the server accepts or refuses it. */
  async bind(dn: string, password: string, asker: Asker): Promise<BindResult> {
    return await this.#run("bind", asker, async (connection) => {
      const result = await connection.bind(dn, password);
      if (result.code !== SUCCESS && !REFUSED.includes(result.code)) throw this.#unusable("a login", result);
      return result;
    });
  }

  close(): void {
    this.#closed.abort();
    for (const idle of Object.values(this.#idle)) {
      for (const connection of idle.keys()) connection.close();
      idle.clear();
    }
  }

  #unusable(what: string, { code, text }: LdapResult): RemoteUnavailable {
    return this.#system.unusable(`answers ${what} with code ${code} ${text.slice(0, 200)}`.trimEnd());
  }

  #run<T>(purpose: Purpose, asker: Asker, use: (connection: LdapConnection) => Promise<T>): Promise<T> {
    return this.#system.run(asker, async () => {
      const limit = new AbortController();
      const timer = setTimeout(() => limit.abort(), this.#config.timeoutMs);
      const signal = AbortSignal.any([asker.signal, limit.signal, this.#closed.signal]);
      try {
        return await this.#exchange(purpose, signal, use);
      } catch (error) {
        if (error instanceof RemoteUnavailable) throw error;
        const late = `no answer within ${this.#config.timeoutMs} ms`;
        throw this.#system.unusable(limit.signal.aborted ? late : reasonOf(error), error);
      } finally {
        clearTimeout(timer);
      }
    });
  }

  /** Servers close idle connections: one that does so before any answer is replaced. */
  async #exchange<T>(
    purpose: Purpose,
    signal: AbortSignal,
    use: (connection: LdapConnection) => Promise<T>,
  ): Promise<T> {
    for (;;) {
      const kept = this.#take(purpose);
      const connection = kept ?? await this.#open(purpose, signal);
      try {
        const result = await closingOn(signal, connection, () => use(connection));
        if (!this.#closed.signal.aborted) this.#idle[purpose].set(connection, performance.now());
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
    const connection = new LdapConnection(await this.#parts.outgoing.connect(this.#remote, signal));
    const { login } = this.#config;
    if (purpose === "bind" || login === undefined) return connection;
    try {
      const result = await closingOn(signal, connection, () => connection.bind(login.dn, login.password));
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

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : "no answer";
}
