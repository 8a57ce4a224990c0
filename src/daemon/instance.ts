import type { Logger } from "../logging/logger.ts";
import type { Clock } from "../model/clock.ts";
import { type Ahead, type CommandSocket, exchange, type ExchangeLimits } from "./command_connection.ts";
import type { InstanceStatus } from "./daemon_group.ts";
import { encodePing } from "./encode_command.ts";
import {
  describeFailure,
  type Exchange,
  type Failure,
  failure,
  isAboutDaemon,
  isCertain,
} from "./exchange.ts";
import { parsePing, type PingReply } from "./parse_reply.ts";
import { Queue } from "./queue.ts";
import type { Schedule } from "./schedule.ts";

/** A command for an instance. */
export interface InstanceCommand<T> {
  readonly request: string;
  /** `undefined` for a reply that is none. */
  readonly parse: (reply: string) => T | undefined;
  /** Whose command it is, see {@link Queue}. */
  readonly lane: string;
  /** Milliseconds for the reply. */
  readonly replyLimit: number;
  /** Moment after which nobody waits for it any more, in milliseconds since the epoch. */
  readonly deadline: number;
  readonly signal: AbortSignal;
}

export interface InstanceParts {
  /** Counted from 1. */
  readonly number: number;
  /** `host:port` of the listen socket. */
  readonly address: string;
  readonly socket: CommandSocket;
  readonly limits: ExchangeLimits;
  readonly clock: Clock;
  readonly schedule: Schedule;
  /** From 0 to below 1; spreads the checks of several services. */
  readonly random: () => number;
  readonly log: Logger;
}

const SECOND = 1000;
/** A daemon that is down is asked for a sign of life after 4 to 5 s. */
const PROBE_MS = { least: 4 * SECOND, spread: SECOND };
/** One that is up is asked if nothing else was heard of it for 60 to 75 s. */
const IDLE_MS = { least: 60 * SECOND, spread: 15 * SECOND };
/** Its version and limit are asked for again after this time, traffic or not. */
const REFRESH_MS = 600 * SECOND;
/** One that failed to answer is asked again before it counts as down. */
const DOUBT_MS = { least: 0, spread: SECOND };
/** While all are down, requests may try an instance this often. */
const TRIAL_MS = SECOND;

const QUEUE_LIMITS = { waiting: 128, perLane: 64 };
/** Longest wait for one's turn, in milliseconds: then another instance may be quicker. */
const PATIENCE_MS = 10 * SECOND;

/**
 * One physical daemon: its queue, and its health as real requests show it. What surely means that it is of no use (see
 * {@link isCertain}) takes it out at once. A failure that may lie with the request only raises doubt, and a ping decides:
 * so no sequence of requests, however odd, makes a live daemon count as down.
 */
export class Instance {
  readonly #queue: Queue;
  /** Why it is down. */
  #trouble: Failure | undefined;
  #doubtful = false;
  #facts: PingReply | undefined;
  #heardAt = -Infinity;
  #askedAt = -Infinity;
  #triedAt = -Infinity;
  #latencyMs: number | undefined;
  /** What {@link status} says until something changes. */
  #status: InstanceStatus | undefined;
  /** Whether a ping is on its way or waits for its turn. */
  #checking = false;
  #cancel: (() => void) | undefined;
  readonly #closing = new AbortController();

  constructor(readonly parts: InstanceParts) {
    this.#queue = new Queue({ ...QUEUE_LIMITS, underWay: parts.socket.tls === undefined ? 1 : 2 });
  }

  get number(): number {
    return this.parts.number;
  }

  get up(): boolean {
    return this.#trouble === undefined;
  }

  /** As the last ping told. */
  get facts(): PingReply | undefined {
    return this.#facts;
  }

  /** The same object as long as nothing has changed. */
  status(): InstanceStatus {
    return this.#status ??= this.#describe();
  }

  /** Begins to look after the instance: a ping now, then one whenever there is reason for one. */
  start(): void {
    this.#check();
  }

  /** Whether a request may be sent although the instance is down, because there is no better one. */
  mayTry(): boolean {
    return this.#queue.idle && this.parts.clock() - this.#triedAt >= TRIAL_MS;
  }

  /** Never rejects. A command under way runs to its end, whatever becomes of its caller. */
  send<T>(command: InstanceCommand<T>): Promise<Exchange<T>> {
    return this.#send(command, false);
  }

  /** Ends the checks and waits for the exchange under way. */
  async close(): Promise<void> {
    this.#cancel?.();
    this.#closing.abort();
    await this.#queue.close();
  }

  #describe(): InstanceStatus {
    const { number, address } = this.parts;
    return {
      instance: number,
      address,
      up: this.#trouble === undefined,
      ...(this.#trouble && { reason: describeFailure(this.#trouble) }),
      ...(this.#latencyMs !== undefined && { latencyMs: this.#latencyMs }),
      ...(this.parts.socket.tls?.allowUnverifiable === true && { unverifiable: true }),
    };
  }

  #send<T>(command: InstanceCommand<T>, ping: boolean): Promise<Exchange<T>> {
    const { lane, signal, deadline } = command;
    const { clock } = this.parts;
    const until = Math.min(clock() + PATIENCE_MS, deadline);
    return this.#queue.take({
      lane,
      signal,
      patience: until - clock(),
      run: async (ahead) => {
        let began = this.#triedAt = clock();
        const over = ahead?.then(() => {
          began = clock();
          return this.#trouble && failure(this.#trouble.fault, "before", this.#trouble.detail);
        });
        const result = await this.#exchange(command, over && { over, patience: until - began });
        if (result.kind === "answered") this.#latencyMs = clock() - began;
        this.#learn(result, ping);
        return result;
      },
    });
  }

  async #exchange<T>(
    { request, parse, replyLimit, deadline, signal }: InstanceCommand<T>,
    ahead: Ahead | undefined,
  ): Promise<Exchange<T>> {
    const { socket, limits: { connect, handshake }, clock } = this.parts;
    const limits = () => {
      const left = deadline - clock();
      return {
        connect: Math.min(connect, left),
        handshake: Math.min(handshake, left),
        reply: Math.min(replyLimit, left),
      };
    };
    const result = await exchange(socket, request, { limits, signal, clock, ahead });
    if (result.kind === "failed") return result;
    const reply = parse(result.reply);
    return reply === undefined ? failure("invalid-reply", "after") : { kind: "answered", reply };
  }

  #learn(result: Exchange<unknown>, ping: boolean): void {
    this.#status = undefined;
    if (result.kind === "answered") {
      this.#heardAt = this.parts.clock();
      this.#doubtful = false;
      if (this.#trouble !== undefined) {
        this.#trouble = undefined;
        this.parts.log.info("daemon is up again", this.#fields());
        if (!ping) this.#check();
      }
    } else if (isAboutDaemon(result)) {
      if (isCertain(result) || (ping && this.#doubtful)) this.#down(result);
      else if (this.#trouble === undefined) {
        this.#doubtful = true;
        if (!ping && !this.#checking) this.#check();
      }
    }
  }

  #down(trouble: Failure): void {
    const news = this.#trouble === undefined;
    this.#trouble = trouble;
    this.#queue.drain(failure(trouble.fault, "before", trouble.detail));
    if (!news) return;
    this.parts.log.warn("daemon is down", { ...this.#fields(), reason: describeFailure(trouble) });
    this.#plan();
  }

  #fields() {
    const { number, address } = this.parts;
    return { instance: number, address };
  }

  /** Pings as soon as it is its turn, and plans the next check. */
  async #check(): Promise<void> {
    this.#cancel?.();
    const { clock, limits } = this.parts;
    this.#askedAt = clock();
    this.#checking = true;
    const result = await this.#send({
      request: encodePing(),
      parse: parsePing,
      lane: "ping",
      replyLimit: limits.reply,
      deadline: clock() + limits.connect + limits.handshake + limits.reply + PATIENCE_MS,
      signal: this.#closing.signal,
    }, true);
    this.#checking = false;
    if (result.kind === "answered") this.#facts = result.reply;
    this.#plan();
  }

  #plan(): void {
    this.#cancel?.();
    if (this.#closing.signal.aborted) return;
    const { schedule, random, clock } = this.parts;
    const { least, spread } = this.#trouble ? PROBE_MS : this.#doubtful ? DOUBT_MS : IDLE_MS;
    this.#cancel = schedule(least + spread * random(), () => {
      const now = clock();
      const recent = now - this.#heardAt < IDLE_MS.least && now - this.#askedAt < REFRESH_MS;
      if (this.#trouble === undefined && !this.#doubtful && recent) this.#plan();
      else this.#check();
    });
  }
}
