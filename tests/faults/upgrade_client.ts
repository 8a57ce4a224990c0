import { until } from "../fixtures/deadline.ts";
import assert from "node:assert/strict";
import { LONG } from "../long/results.ts";
import type { Question, Reply } from "../system/ask.ts";
import { ALICE } from "../system/running_service.ts";
import { type Instance } from "../system/several_instances.ts";
import { EVERYBODY } from "../system/sharing/sharing_system.ts";

const SHARE_CONTENT = "0123456789";
/** Number of simultaneous uses of a one-time share. */
const USES = 6;

/** Pause between two rounds of a client, in milliseconds, for other work of the machine. */
const PAUSE_MS = LONG ? 50 : 500;

/** Instance in service, and its version. */
export interface Serving {
  readonly instance: Instance;
  readonly version: string;
}

/**
 * Clients that log in, ask for sessions, use tokens and one-time shares all the time, and record wrong
 * answers. Each request goes to the next instance in service.
 */
export class UpgradeClient implements AsyncDisposable {
  /** Instances in service, as a load balancer knows them. */
  readonly inService = new Set<Serving>();
  /** Wrong answers and failed requests. */
  readonly failures: string[] = [];
  /** Number of answered requests, by version. */
  readonly served = new Map<string, number>();
  #turn = 0;
  #stopped = false;
  readonly #rounds: number[];
  readonly #loops: Promise<unknown>;

  /**
   * @param first Instances in service from the start.
   * @param newFile Makes a file that may be shared. @returns Its path on the daemon.
   */
  constructor(first: readonly Serving[], private readonly newFile: (name: string) => Promise<string>) {
    for (const serving of first) this.inService.add(serving);
    const loops = [() => this.#logsIn(), () => this.#usesToken(), (round: number) => this.#usesShare(round)];
    this.#rounds = loops.map(() => 0);
    this.#loops = Promise.all(loops.map((loop, i) => this.#repeat(loop, i)));
  }

  /** Waits until each kind of client has finished more than `count` further rounds. */
  async rounds(count: number): Promise<void> {
    const before = [...this.#rounds];
    await this.untilFine(() => this.#rounds.every((rounds, i) => rounds - (before[i] ?? 0) > count));
  }

  /** Waits until a condition holds. @throws {AssertionError} If a client gets a wrong answer meanwhile. */
  async untilFine(condition: () => Promise<boolean> | boolean): Promise<void> {
    await until(() => {
      assert.deepEqual(this.failures, []);
      return condition();
    });
  }

  /** Stops the clients, and waits until each has finished its round. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopped = true;
    await this.#loops;
  }

  /** Makes a share of a new file by Alice for everybody. @returns Path to download it. */
  async share(name: string, fields: Readonly<Record<string, unknown>> = {}): Promise<string> {
    const body = { path: await this.newFile(name), user: EVERYBODY, access: "READ", ...fields };
    const made = await this.#expect(201, "/rest/share/HPC", { as: ALICE, body });
    return `/rest/access/HPC/${String(made?.headers.location).split("/").at(-1)}`;
  }

  async #repeat(loop: (round: number) => Promise<void>, i: number): Promise<void> {
    for (let round = 0; !this.#stopped; round++) {
      await loop(round);
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
      this.#rounds[i] = round + 1;
    }
  }

  async #logsIn(): Promise<void> {
    await this.#expect(200, "/rest/auth", { as: ALICE });
    await this.#expect(200, "/rest/auth/HPC", { as: ALICE, body: { serverPath: "" } });
  }

  async #usesToken(): Promise<void> {
    const token = await this.#expect(200, "/rest/auth/token", {
      as: ALICE,
      headers: { Accept: "text/plain" },
    });
    const headers = { Authorization: `Bearer ${token?.text}`, Accept: "application/json" };
    for (let i = 0; i < 2; i++) await this.#expect(200, "/rest/auth/HPC", { headers });
  }

  async #usesShare(round: number): Promise<void> {
    const path = await this.share(`once${round}.txt`, { onetime: true });
    const uses = await Promise.all(Array.from({ length: USES }, () => this.#ask(path)));
    const told = uses.map((reply) => reply?.status);
    const good = uses.filter((reply) => reply?.status === 200 && reply.text === SHARE_CONTENT);
    if (good.length !== 1 || told.filter((status) => status === 404).length !== USES - 1) {
      this.failures.push(`one-time share: ${told.join(" ")}`);
    }
  }

  async #expect(status: number, path: string, question: Question): Promise<Reply | undefined> {
    const reply = await this.#ask(path, question);
    if (reply !== undefined && reply.status !== status) {
      this.failures.push(`${path}: ${reply.status} ${reply.text}`);
    }
    return reply;
  }

  async #ask(path: string, question: Question = {}): Promise<Reply | undefined> {
    const all = [...this.inService];
    const serving = all[this.#turn++ % all.length];
    if (serving === undefined) throw new TypeError("nobody serves");
    try {
      const reply = await serving.instance.ask(path, { ...question, agent: false }); // it may be stopping
      this.served.set(serving.version, (this.served.get(serving.version) ?? 0) + 1);
      return reply;
    } catch (error) {
      this.failures.push(`${serving.version} ${path}: ${error}`);
    }
  }
}
