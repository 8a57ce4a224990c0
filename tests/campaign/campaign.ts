/** A campaign: clients do random things at several instances while random faults strike, and all of it is checked. */
import { setTimeout as delay } from "node:timers/promises";
import { ALICE } from "../system/running_service.ts";
import type { Instance } from "../system/several_instances.ts";
import { EVERYBODY } from "../system/sharing/sharing_system.ts";
import type { Question } from "../system/ask.ts";
import { Cluster, type Draw, drawFrom, FAULTS, INSTANCES } from "./faults.ts";
import { checkRecoveries, checkShare, type Recovery, type SharePast, type ShareRow } from "./history.ts";

const CLIENTS = 6;
const SHARES = "/rest/share/HPC";
/** Longest wait for an answer, and for an instance that should serve again, in milliseconds. */
const PATIENCE_MS = 60_000;

/** What a campaign did and found. */
export interface CampaignReport {
  readonly faults: readonly string[];
  readonly shares: number;
  readonly uses: number;
  readonly recoveries: readonly Recovery[];
  /** Broken promises; empty if all were kept. */
  readonly broken: readonly string[];
}

/**
 * Runs a campaign.
 * @param ms How long faults go on; the last is seen to its end.
 * @param servesAgainMs How soon after a fault each instance has to serve again.
 */
export async function runCampaign(
  seed: number,
  ms: number,
  servesAgainMs: number,
): Promise<CampaignReport> {
  await using cluster = await Cluster.start();
  const campaign = new Campaign(cluster);
  for (let i = 0; i < INSTANCES; i++) await campaign.serves(i);
  const clients = Array.from({ length: CLIENTS }, (_, i) => campaign.client(drawFrom(seed * 1000 + i)));
  try {
    await campaign.strike(drawFrom(seed), performance.now() + ms);
  } finally {
    campaign.over = true;
    await Promise.all(clients);
  }
  return await campaign.report(servesAgainMs);
}

class Campaign {
  over = false;
  readonly #shares: SharePast[] = [];
  readonly #recoveries: Recovery[] = [];
  readonly #faults: string[] = [];

  constructor(readonly cluster: Cluster) {}

  /** Does one thing after the other until the campaign is over. */
  async client(draw: Draw): Promise<void> {
    while (!this.over) {
      const instance = this.#instance(draw(INSTANCES));
      const share = this.#shares[this.#shares.length - 1 - draw(8)];
      const what = draw(10);
      if (share === undefined || what < 2) await this.#make(instance, draw);
      else if (what < 9) await this.#use(instance, share);
      else await this.#remove(instance, share);
      await delay(20);
    }
  }

  /** Lets one fault follow the other; after each, every instance has to serve again. */
  async strike(draw: Draw, end: number): Promise<void> {
    while (performance.now() < end) {
      const fault = FAULTS[draw(FAULTS.length)];
      if (fault === undefined) return;
      this.#faults.push(fault.name);
      await fault.strike(this.cluster, draw, () => delay(500 + draw(3000)));
      const ended = performance.now();
      await Promise.all(Array.from({ length: INSTANCES }, async (_, instance) => {
        await this.serves(instance);
        this.#recoveries.push({ fault: fault.name, instance, ms: performance.now() - ended });
      }));
    }
  }

  /** Waits until an instance makes a share, which is what needs the database; for a minute at most. */
  async serves(number: number): Promise<void> {
    const end = performance.now() + PATIENCE_MS;
    while (performance.now() < end && !await this.#make(this.#instance(number), () => 0)) await delay(50);
  }

  async report(servesAgainMs: number): Promise<CampaignReport> {
    const { server, database } = this.cluster.several;
    const found = await server.sql(
      database,
      `SELECT id, access_count, uses_left, (SELECT count(*) FROM authserver.share_use AS one
         WHERE one.server = share.server AND one.id = share.id) AS uses FROM authserver.share`,
    );
    const rows = new Map(found.map((row): [string, ShareRow] => [String(row["id"]), {
      id: String(row["id"]),
      accessCount: Number(row["access_count"]),
      usesLeft: row["uses_left"] === null ? undefined : Number(row["uses_left"]),
      uses: Number(row["uses"]),
    }]));
    return {
      faults: this.#faults,
      shares: this.#shares.length,
      uses: this.#shares.reduce((sum, { uses }) => sum + uses.length, 0),
      recoveries: this.#recoveries,
      broken: [
        ...this.#shares.flatMap((share) => checkShare(share, rows.get(share.id))),
        ...checkRecoveries(this.#recoveries, servesAgainMs),
      ],
    };
  }

  /** @returns Whether the share was made. */
  async #make(instance: Instance, draw: Draw): Promise<boolean> {
    const mostUses = draw(3) + 1;
    const path = await this.cluster.several.file(`f${crypto.randomUUID()}.txt`);
    const reply = await this.#ask(instance, SHARES, {
      as: ALICE,
      body: {
        path: `${this.cluster.several.site.data}/${path}`,
        user: EVERYBODY,
        access: "READ",
        ...(mostUses === 1 ? { onetime: true } : { maxUses: mostUses }),
      },
    });
    if (reply?.status !== 201) return false;
    const id = String(reply.headers.location).split("/").at(-1) ?? "";
    this.#shares.push({ id, mostUses, uses: [] });
    return true;
  }

  async #use(instance: Instance, share: SharePast): Promise<void> {
    const began = performance.now();
    const reply = await this.#ask(instance, `/rest/access/HPC/${share.id}`);
    const isWhole = reply?.status !== 200 || reply.text === "0123456789";
    share.uses.push({ began, outcome: isWhole ? reply?.status ?? "cut" : "cut" });
  }

  async #remove(instance: Instance, share: SharePast): Promise<void> {
    const removal = { asked: performance.now() };
    share.removal ??= removal;
    const reply = await this.#ask(instance, `${SHARES}/${share.id}`, { as: ALICE, method: "DELETE" });
    if (reply?.status === 200) share.removal = { ...share.removal, acknowledged: performance.now() };
  }

  #ask(instance: Instance, path: string, question: Question = {}) {
    return instance.ask(path, question).catch(() => undefined);
  }

  #instance(number: number): Instance {
    const instance = this.cluster.several.instances[number];
    if (instance === undefined) throw new Error(`there is no instance ${number}`);
    return instance;
  }
}
