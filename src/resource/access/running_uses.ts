import { type Clock, realTime, type Schedule } from "../../model/clock.ts";
import { addressInRange } from "../../model/address.ts";
import { isExpired, type Share } from "../../sharing/share.ts";
import type { ShareStore } from "../../sharing/store/share_store.ts";

/** Milliseconds; bounds how long a transfer outlives a share that ended on another instance. */
const POLL_MS = 2_000;

interface Running {
  readonly share: Share; // as permitted at the start
  readonly address: string | undefined; // absent: an owner, whom no address limits
  readonly end: (why: string) => void;
}

/** Stops transfers whose share ended or no longer permits them, on any instance. */
export class RunningUses {
  readonly #running = new Map<string, Set<Running>>();
  #cancel: (() => void) | undefined;

  constructor(
    readonly store: Pick<ShareStore, "get">,
    readonly clock: Clock,
    readonly schedule: Schedule = realTime,
  ) {}

  /** Watches a transfer. @param running.end Called at most once. @returns Stops watching. */
  add(running: Running): () => void {
    const key = `${running.share.server}/${running.share.id}`;
    const others = this.#running.getOrInsertComputed(key, () => new Set()).add(running);
    this.#pollLater();
    return () => {
      others.delete(running);
      if (others.size > 0 || this.#running.get(key) !== others) return;
      this.#running.delete(key);
      if (this.#running.size === 0) this.close();
    };
  }

  /** Checks the shares of all transfers once. Without the database, ends only those of expired shares. */
  async poll(): Promise<void> {
    for (const running of [...this.#running.values()]) {
      const [first] = running;
      if (first === undefined) continue;
      const { server, id } = first.share;
      const answer = await this.store.get(server, id).then((share) => ({ share }), () => undefined);
      for (const each of [...running]) {
        const why = answer === undefined
          ? whyExpired(each.share, this.clock)
          : whyEnded(each, answer.share, this.clock);
        if (why === undefined || !running.delete(each)) continue;
        each.end(why);
      }
    }
  }

  close(): void {
    this.#cancel?.();
    this.#cancel = undefined;
  }

  #pollLater(): void {
    if (this.#cancel !== undefined) return;
    const cancel = this.schedule(POLL_MS, async () => {
      await this.poll();
      if (this.#cancel !== cancel) return;
      this.#cancel = undefined;
      if (this.#running.size > 0) this.#pollLater();
    });
    this.#cancel = cancel;
  }
}

function whyExpired(share: Share, clock: Clock): string | undefined {
  return isExpired(share, clock()) ? "the share has expired" : undefined;
}

/** Returns why a share no longer permits a transfer that it permitted. */
export function whyEnded(
  { share: before, address }: Pick<Running, "share" | "address">,
  now: Share | undefined,
  clock: Clock,
): string | undefined {
  if (now === undefined) return "the share has ended";
  if (now.password !== before.password) return "the share has another password";
  const members = ["path", "access", "target", "owner", "uid", "gid"] as const;
  const changed = members.find((member) => now[member] !== before[member]);
  if (changed !== undefined) return `the share has another ${changed}`;
  const { sources } = now;
  if (sources.length > 0 && !sources.some((own) => address === undefined || addressInRange(address, own))) {
    return "the share is not for this address any more";
  }
  return whyExpired(now, clock);
}
