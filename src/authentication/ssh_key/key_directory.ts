import type { Logger } from "../../logging/logger.ts";
import type { Clock } from "../../model/clock.ts";
import type { AuthorizedKey } from "./authorized_keys.ts";
import { type KeyCacheTimes, type KeySource, KeysUnknown, ServerKeys, unlessAborted } from "./server_keys.ts";

/** On which servers a user's key was found. */
export interface Confirmation {
  /** Logical servers that report a key which passes the test. */
  readonly confirmed: readonly string[];
  /** Logical servers that gave no answer. */
  readonly failed: readonly string[];
}

/** The keys that the transfer daemons report, server by server: an account on one is not the same one on another. */
export class KeyDirectory {
  readonly #servers: readonly ServerKeys[];
  readonly #closed = new AbortController();

  constructor(
    sources: readonly KeySource[],
    times: KeyCacheTimes,
    parts: { readonly clock: Clock; readonly log: Logger },
  ) {
    this.#servers = sources.map((source) =>
      new ServerKeys(source, times, { ...parts, closed: this.#closed.signal })
    );
  }

  /**
   * Asks all servers at once about a user and puts each one's keys to a test. Ends when all have answered; once one has
   * passed, it waits only a moment for the others, so that a daemon that hangs holds up nobody who does not need it.
   */
  async confirm(
    user: string,
    test: (keys: readonly AuthorizedKey[]) => Promise<boolean>,
    signal: AbortSignal,
  ): Promise<Confirmation> {
    const confirmed: string[] = [];
    const failed: string[] = [];
    const first = Promise.withResolvers<void>();
    const asked = this.#servers.map(async (server) => {
      try {
        if (!await test(await server.keysOf(user))) return;
        confirmed.push(server.source.server);
        first.resolve();
      } catch (error) {
        if (!(error instanceof KeysUnknown)) throw error;
        failed.push(server.source.server);
      }
    });
    const patience = first.promise.then(() =>
      Promise.all(asked.map((answered, i) => Promise.race([answered, this.#servers[i]?.overdue(user)])))
    );
    await unlessAborted(Promise.race([Promise.all(asked), patience]), signal);
    return { confirmed: [...confirmed], failed: [...failed] };
  }

  close(): void {
    this.#closed.abort();
  }
}
