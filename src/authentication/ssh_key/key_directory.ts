import type { Logger } from "../../logging/logger.ts";
import { type Stopwatch, stopwatch, unlessAborted } from "../../model/clock.ts";
import type { SemaphoreWaiter } from "../../model/fair_semaphore.ts";
import type { AuthorizedKey } from "./authorized_keys.ts";
import { type KeyCacheTimes, type KeySource, KeysUnknown, ServerKeys } from "./server_keys.ts";

interface Confirmation {
  readonly confirmed: readonly string[];
  readonly failed: readonly string[]; // servers without a response
}

/** Tests a server's keys for a match. */
type KeyTest = (keys: readonly AuthorizedKey[]) => Promise<boolean>;

/** Keys from daemons by server, since accounts of the same name differ between servers. */
export class KeyDirectory {
  readonly #servers: readonly ServerKeys[];
  readonly #names: readonly string[];
  readonly #closed = new AbortController();

  constructor(
    sources: readonly KeySource[],
    times: KeyCacheTimes,
    { elapsed = stopwatch, log }: { readonly elapsed?: Stopwatch; readonly log: Logger },
  ) {
    this.#names = sources.map(({ server }) => server);
    this.#servers = sources.map((source) =>
      new ServerKeys(source, times, { elapsed, log, closed: this.#closed.signal })
    );
  }

  /** Asks all servers and tests their keys. After a match it waits only briefly for the other daemons. */
  async confirm(
    user: string,
    test: KeyTest,
    seeker: SemaphoreWaiter,
  ): Promise<Confirmation> {
    const known = this.hasKeys(user);
    const fresh = this.#servers.map((server) => server.fresh(user, known));
    if (fresh.every((keys) => keys !== undefined)) {
      const passed = await Promise.all(fresh.map(test));
      return { confirmed: this.#names.filter((_, i) => passed[i]), failed: [] };
    }
    const asked = this.#servers.map((server, i) => fresh[i] ?? server.ask(user, seeker));
    return await this.#await(user, asked, test, seeker.signal);
  }

  hasKeys(user: string): boolean {
    return this.#servers.some((server) => server.hasKeys(user));
  }

  async #await(
    user: string,
    answers: readonly (readonly AuthorizedKey[] | Promise<readonly AuthorizedKey[]>)[],
    test: KeyTest,
    signal: AbortSignal,
  ): Promise<Confirmation> {
    const confirmed: string[] = [];
    const failed: string[] = [];
    const first = Promise.withResolvers<void>();
    const tested = this.#names.map(async (server, i) => {
      try {
        if (!await test(await answers[i] ?? [])) return;
        confirmed.push(server);
        first.resolve();
      } catch (error) {
        if (!(error instanceof KeysUnknown)) throw error;
        failed.push(server);
      }
    });
    const maxWait = first.promise.then(() =>
      Promise.all(tested.map((done, i) => this.#servers[i]?.inGoodTime(done, user)))
    );
    await unlessAborted(Promise.race([Promise.all(tested), maxWait]), signal);
    // Copies, so that late responses change nothing.
    return { confirmed: [...confirmed], failed: [...failed] };
  }

  close(): void {
    this.#closed.abort();
  }
}
