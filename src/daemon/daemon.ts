import { isDeepStrictEqual } from "node:util";
import type { Logger } from "../logging/logger.ts";
import type { Clock, Stopwatch } from "../model/clock.ts";
import { type Ahead, type CommandSocket, exchange, type ExchangeLimits } from "./command_connection.ts";
import type { DaemonHealth } from "./daemon_group.ts";
import { encodePing } from "./encode_command.ts";
import {
  describeFailure,
  type Exchange,
  type Failure,
  failure,
  isAboutDaemon,
  isCertain,
} from "./exchange.ts";
import { Crowd } from "./crowd.ts";
import { parsePing, type PingReply } from "./parse_reply.ts";
import { Queue } from "./queue.ts";
import type { Schedule } from "../model/schedule.ts";

/** A command for a daemon. */
export interface DaemonCommand<T> {
  readonly request: string;
  /** `undefined` for a reply that is none. */
  readonly parse: (reply: string) => T | undefined;
  /** Whose command it is, see {@link Queue}. */
  readonly queueKey: string;
  /** Milliseconds for the reply. */
  readonly replyLimit: number;
  /** Milliseconds after which the daemon can serve the next one, see {@link Queue}; absent: only with the reply. */
  readonly longestTurn?: number;
  /** Moment after which nobody waits for it any more, as the stopwatch counts. */
  readonly deadline: number;
  readonly signal: AbortSignal;
}

/** What is known of a daemon, as plain data: handed from a core to the one that takes its place. */
export interface DaemonKnowledge {
  /** Reason why the system is down; absent if it answered. */
  readonly trouble?: Failure;
  /** As the last ping told. */
  readonly facts?: PingReply;
}

/** What a physical daemon is reached with. */
export interface DaemonParts {
  readonly socket: CommandSocket;
  readonly limits: ExchangeLimits;
  /** For the dates of certificates. */
  readonly clock: Clock;
  /** For durations. */
  readonly elapsed: Stopwatch;
  readonly schedule: Schedule;
  /** From 0 to below 1; spreads the checks of several services. */
  readonly random: () => number;
  readonly log: Logger;
  /** What was known before; absent for a daemon that nobody asked yet. */
  readonly known?: DaemonKnowledge;
  /** Told of what changes. */
  readonly learned: (knowledge: DaemonKnowledge) => void;
  /** How many instances of the service send it commands, this one included; default 1. */
  readonly clusterMembers?: () => number;
}

/** What a daemon is to a logical server. */
interface DaemonRole {
  readonly server: string;
  /** Counted from 1. */
  readonly instance: number;
  /** `host:port` of the listen socket. */
  readonly address: string;
}

const SECOND = 1000;
/** A daemon that is down is asked for a sign of life after 4 to 5 s. */
const PROBE_MS = { least: 4 * SECOND, spread: SECOND };
/**
 * One that is up is asked if nothing else was heard of it for 7 to 9 s: with the 5 s that connecting or the handshake may
 * take, one that died is noticed within 15 s.
 */
const IDLE_MS = { least: 7 * SECOND, spread: 2 * SECOND };
/** Its version and limit are asked for again after this time, traffic or not. */
const REFRESH_MS = 600 * SECOND;
/** One that failed to answer is asked again before it counts as down. */
const DOUBT_MS = { least: 0, spread: SECOND };
/** While all are down, requests may try an instance this often. */
const TRIAL_MS = SECOND;

/** Why a daemon that nobody has asked yet is not up. */
const NOT_CHECKED = "not checked yet";

const QUEUE_LIMITS = { waiting: 128, perKey: 64 };
/** Longest wait for one's turn, in milliseconds: then another instance may be quicker. */
const MAX_WAIT_MS = 10 * SECOND;

/**
 * One physical daemon, whichever logical servers it belongs to: its queue, and its health as real requests show it. What surely means that it is of no use (see
 * {@link isCertain}) takes it out at once. A failure that may lie with the request only raises doubt, and a ping decides:
 * so no sequence of requests, however odd, makes a live daemon count as down.
 */
export class Daemon {
  readonly #queue: Queue;
  readonly #crowd: Crowd;
  readonly #roles: DaemonRole[] = [];
  /** Groups that have not let go of it. */
  #users = 0;
  /** Whether it is known to be up or down: until then a request may try it, and nobody says that it is up. */
  #checked: boolean;
  /** Reason why the system is down. */
  #trouble: Failure | undefined;
  #doubtful = false;
  #facts: PingReply | undefined;
  #heardAt = -Infinity;
  #askedAt = -Infinity;
  #triedAt = -Infinity;
  #latencyMs: number | undefined;
  /** What {@link health} says until something changes. */
  #health: DaemonHealth | undefined;
  /** Whether a ping is on its way or waits for its turn. */
  #checking = false;
  #cancel: (() => void) | undefined;
  readonly #closing = new AbortController();

  constructor(readonly parts: DaemonParts) {
    this.#checked = parts.known !== undefined;
    this.#trouble = parts.known?.trouble;
    this.#facts = parts.known?.facts;
    const ready = parts.socket.tls !== undefined;
    this.#crowd = new Crowd(parts.clusterMembers ?? (() => 1));
    this.#queue = new Queue({ ...QUEUE_LIMITS, underWay: () => this.#crowd.underWay(ready) });
  }

  /** Whether it answered, and still does as far as is known. */
  get up(): boolean {
    return this.#checked && this.#trouble === undefined;
  }

  /** Whether nobody knows yet. */
  get unchecked(): boolean {
    return !this.#checked;
  }

  /** As the last ping told. */
  get facts(): PingReply | undefined {
    return this.#facts;
  }

  /** The same object as long as nothing has changed. */
  health(): DaemonHealth {
    return this.#health ??= this.#describe();
  }

  /** A logical server has this daemon from now on. The first begins the checks: a ping now, then whenever there is reason. */
  join(role: DaemonRole): void {
    this.#roles.push(role);
    if (this.#users++ === 0) this.#check();
  }

  /** Whether a request may be sent although the daemon is down, because there is no better one. */
  mayTry(): boolean {
    return this.#queue.idle && this.parts.elapsed() - this.#triedAt >= TRIAL_MS;
  }

  /** Never rejects. A command under way runs to its end, whatever becomes of its caller. */
  send<T>(command: DaemonCommand<T>): Promise<Exchange<T>> {
    return this.#send(command, false);
  }

  /** A logical server lets go of it; the last one ends the checks and waits for the exchange under way. */
  async leave(): Promise<void> {
    if (--this.#users > 0) return;
    this.#cancel?.();
    this.#closing.abort();
    await this.#queue.close();
  }

  #describe(): DaemonHealth {
    const reason = this.#trouble ? describeFailure(this.#trouble) : this.#checked ? undefined : NOT_CHECKED;
    return {
      up: this.up,
      unchecked: this.#checked ? undefined : true,
      reason,
      latencyMs: this.#latencyMs,
      unverifiable: this.parts.socket.tls?.allowUnverifiable || undefined,
    };
  }

  #send<T>(command: DaemonCommand<T>, ping: boolean): Promise<Exchange<T>> {
    const { queueKey, signal, deadline, longestTurn } = command;
    const { elapsed } = this.parts;
    const until = Math.min(elapsed() + MAX_WAIT_MS, deadline);
    let tookMs = 0;
    return this.#queue.take({
      queueKey,
      signal,
      maxWait: until - elapsed(),
      longestMs: longestTurn,
      run: async (ahead) => {
        let began = this.#triedAt = elapsed();
        const over = ahead?.then(() => {
          began = elapsed();
          return this.#trouble && failure(this.#trouble.fault, "before", this.#trouble.detail);
        });
        const result = await this.#exchange(command, over && { over, maxWait: until - began });
        tookMs = elapsed() - began;
        if (result.kind === "answered") this.#latencyMs = Math.round(tookMs);
        this.#learn(result, ping);
        return result;
      },
      pause: () => this.#crowd.pauseAfter(tookMs),
    });
  }

  async #exchange<T>(
    { request, parse, replyLimit, deadline, signal }: DaemonCommand<T>,
    ahead: Ahead | undefined,
  ): Promise<Exchange<T>> {
    const { socket, limits: { connect, handshake }, clock, elapsed } = this.parts;
    const limits = () => {
      const left = deadline - elapsed();
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
    this.#health = undefined;
    if (result.kind === "answered") {
      this.#heardAt = this.parts.elapsed();
      this.#doubtful = false;
      const wasDown = this.#trouble !== undefined;
      const news = wasDown || !this.#checked;
      this.#checked = true;
      this.#trouble = undefined;
      if (wasDown) this.parts.log.info("daemon is up again", this.#fields());
      if (wasDown && !ping) this.#check();
      if (news) this.#tell();
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
    this.#checked = true;
    this.#queue.drain(failure(trouble.fault, "before", trouble.detail));
    if (!news) return;
    this.parts.log.warn("daemon is down", { ...this.#fields(), reason: describeFailure(trouble) });
    this.#tell();
    this.#plan();
  }

  #tell(): void {
    this.parts.learned({
      trouble: this.#trouble,
      facts: this.#facts,
    });
  }

  #fields() {
    const [first, ...others] = this.#roles;
    return { ...first, ...(others.length > 0 && { also: others.map(({ server }) => server).join(",") }) };
  }

  /** Pings as soon as it is its turn, and plans the next check. */
  async #check(): Promise<void> {
    this.#cancel?.();
    const { elapsed, limits } = this.parts;
    this.#askedAt = elapsed();
    this.#checking = true;
    const result = await this.#send({
      request: encodePing(),
      parse: parsePing,
      queueKey: "ping",
      replyLimit: limits.reply,
      deadline: elapsed() + limits.connect + limits.handshake + limits.reply + MAX_WAIT_MS,
      signal: this.#closing.signal,
    }, true);
    this.#checking = false;
    if (result.kind === "answered" && !isDeepStrictEqual(this.#facts, result.reply)) {
      this.#facts = result.reply;
      this.#tell();
    }
    this.#plan();
  }

  #plan(): void {
    this.#cancel?.();
    if (this.#closing.signal.aborted) return;
    const { schedule, random, elapsed } = this.parts;
    const { least, spread } = this.#trouble ? PROBE_MS : this.#doubtful ? DOUBT_MS : IDLE_MS;
    const sinceHeard = this.#trouble || this.#doubtful ? 0 : Math.max(0, elapsed() - this.#heardAt);
    const wait = Math.max(0, least - sinceHeard) + spread * random();
    this.#cancel = schedule(wait, () => {
      const now = elapsed();
      const recent = now - this.#heardAt < IDLE_MS.least && now - this.#askedAt < REFRESH_MS;
      if (this.#trouble === undefined && !this.#doubtful && recent) this.#plan();
      else this.#check();
    });
  }
}
