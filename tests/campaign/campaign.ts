/** A campaign: clients send random requests to several instances during random faults; checks follow. */
import { setTimeout as delay } from "node:timers/promises";
import { LONG } from "../long/results.ts";
import { ALICE } from "../system/running_service.ts";
import type { Instance } from "../system/several_instances.ts";
import { EVERYBODY } from "../system/sharing/sharing_system.ts";
import type { Question, Reply } from "../system/ask.ts";
import { BanClient } from "./ban_client.ts";
import { Cluster, type Draw, drawFrom, FAULTS, INSTANCES, QUIET } from "./faults.ts";
import {
  checkRecoveries,
  checkShare,
  type DropRow,
  type Recovery,
  type SharePast,
  type ShareRow,
} from "./history.ts";
import { Progress, QuietTimes, Waits } from "./progress.ts";
import { TokenClient } from "./token_client.ts";
import { UploadClient } from "./upload_client.ts";

const SHARE_CLIENTS = 3;
const TOKEN_CLIENTS = 1;
const UPLOAD_CLIENTS = 2;
/** Pause after the last fault, in milliseconds, in which all instances read everything again. */
const SETTLED_MS = 20_000;
/** Pause of a client after each step, in milliseconds; longer if other tests share the processors. */
const PAUSE_MS = LONG ? 20 : 500;
const SHARES = "/rest/share/HPC";
/** Longest wait for an instance that should serve again, in milliseconds. */
const PATIENCE_MS = 120_000;

/** Counts and findings of a campaign. */
export interface CampaignReport {
  readonly faults: readonly string[];
  readonly shares: number;
  readonly uses: number;
  readonly tokens: number;
  readonly bans: number;
  readonly uploads: number;
  readonly recoveries: readonly Recovery[];
  /** Broken promises; empty if all were kept. */
  readonly broken: readonly string[];
}

/**
 * Runs a campaign.
 * @param ms Duration of the faults; the last fault runs to its end.
 * @param servesAgainMs Longest time after a fault until each instance must serve again.
 */
export async function runCampaign(
  seed: number,
  ms: number,
  servesAgainMs: number,
): Promise<CampaignReport> {
  using progress = new Progress();
  await using cluster = await Cluster.start();
  const campaign = new Campaign(cluster, progress);
  for (let i = 0; i < INSTANCES; i++) await campaign.serves(i);
  const clients = campaign.clients(seed);
  try {
    await campaign.strike(drawFrom(seed), performance.now() + ms);
  } finally {
    campaign.over = true;
    await Promise.all(clients);
  }
  await delay(SETTLED_MS);
  return await campaign.report(servesAgainMs, drawFrom(seed));
}

/** Environment of the clients. */
export interface Surroundings {
  readonly instances: number;
  readonly instance: (number: number) => Instance;
  /** Sends a request; resolves to `undefined` if the instance does not answer. */
  readonly ask: (instance: Instance, path: string, question?: Question) => Promise<Reply | undefined>;
  readonly now: () => number;
  readonly quiet: QuietTimes;
  /** Folder of the daemon's user. */
  readonly data: string;
}

class Campaign {
  over = false;
  readonly #quiet: QuietTimes;
  readonly #tokens: TokenClient;
  readonly #bans: BanClient;
  readonly #uploads: UploadClient;
  readonly #shares: SharePast[] = [];
  readonly #recoveries: Recovery[] = [];
  readonly #faults: string[] = [];

  constructor(readonly cluster: Cluster, readonly progress: Progress) {
    this.#quiet = new QuietTimes(progress.now);
    const surroundings: Surroundings = {
      instances: INSTANCES,
      instance: (number) => cluster.instance(number),
      ask: (instance, path, question) => this.#ask(instance, path, question),
      now: progress.now,
      quiet: this.#quiet,
      data: cluster.several.site.data,
    };
    this.#tokens = new TokenClient(surroundings);
    this.#bans = new BanClient(surroundings);
    this.#uploads = new UploadClient(surroundings);
  }

  /** Starts clients, which perform one step after the other until the campaign is over. */
  clients(seed: number): readonly Promise<void>[] {
    const steps: ((draw: Draw) => Promise<void>)[] = [
      ...Array.from({ length: SHARE_CLIENTS }, () => (draw: Draw) => this.#share(draw)),
      ...Array.from({ length: TOKEN_CLIENTS }, () => (draw: Draw) => this.#tokens.step(draw)),
      ...Array.from({ length: UPLOAD_CLIENTS }, () => (draw: Draw) => this.#uploads.step(draw)),
      (draw) => this.#bans.step(draw),
    ];
    return steps.map(async (step, i) => {
      const draw = drawFrom(seed * 1000 + i);
      while (!this.over) {
        await step(draw);
        await delay(PAUSE_MS);
      }
    });
  }

  async #share(draw: Draw): Promise<void> {
    const instance = this.cluster.instance(draw(INSTANCES));
    const share = this.#shares[this.#shares.length - 1 - draw(8)];
    const what = draw(10);
    if (share === undefined || what < 2) await this.#make(instance, draw);
    else if (what < 9) await this.#use(instance, share);
    else await this.#remove(instance, share);
  }

  /** Triggers one fault after the other; after each, waits until every instance serves again. */
  async strike(draw: Draw, end: number): Promise<void> {
    while (performance.now() < end) {
      const fault = FAULTS[draw(FAULTS.length)];
      if (fault === undefined) return;
      this.#faults.push(fault.name);
      const isQuiet = fault.name === QUIET;
      if (isQuiet) this.#quiet.begin();
      await fault.strike(this.cluster, draw, () => delay(500 + draw(3000)));
      if (isQuiet) this.#quiet.end();
      const ended = performance.now();
      const waits = await this.#waits();
      await Promise.all(Array.from({ length: INSTANCES }, async (_, instance) => {
        await this.serves(instance);
        const ms = performance.now() - ended;
        this.#recoveries.push({ fault: fault.name, instance, ms, waitedMs: waits[instance]?.ms ?? 0 });
      }));
    }
  }

  /** Begins to measure how long each instance, its database and this process wait for a processor. */
  async #waits(): Promise<readonly Waits[]> {
    const { instances, server } = this.cluster.several;
    const database = await server.pid();
    return instances.map(({ process: { pid } }) => new Waits([Deno.pid, pid, database]));
  }

  /** Waits until an instance creates a share, which needs the database; for two minutes at most. */
  async serves(number: number): Promise<void> {
    const end = performance.now() + PATIENCE_MS;
    while (performance.now() < end && !await this.#make(this.cluster.instance(number), () => 0)) {
      await delay(50);
    }
  }

  async report(servesAgainMs: number, draw: Draw): Promise<CampaignReport> {
    const { server, database } = this.cluster.several;
    const broken = [
      ...await this.#tokens.finish(),
      ...await this.#bans.finish(),
      ...await this.#uploads.finish(draw, (id) => this.#drop(id)),
    ];
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
      tokens: this.#tokens.count,
      bans: this.#bans.count,
      uploads: this.#uploads.count,
      recoveries: this.#recoveries,
      broken: [
        ...broken,
        ...this.#shares.flatMap((share) => checkShare(share, rows.get(share.id))),
        ...checkRecoveries(this.#recoveries, servesAgainMs),
      ],
    };
  }

  async #drop(id: string): Promise<DropRow> {
    const { server, database } = this.cluster.several;
    const [found] = await server.sql(
      database,
      `SELECT received_files AS files, received_bytes AS bytes, (SELECT count(*) FROM authserver.share_upload AS one
         WHERE one.share = share.id AND kept = 0) AS unfinished FROM authserver.share WHERE id = '${id}'`,
    );
    return {
      receivedFiles: Number(found?.["files"]),
      receivedBytes: Number(found?.["bytes"]),
      unfinished: Number(found?.["unfinished"]),
    };
  }

  /** Creates a share. @returns Whether that succeeded. */
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
    return instance.ask(path, { ...question, agent: false }).catch(() => undefined);
  }
}
