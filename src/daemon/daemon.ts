import { isDeepStrictEqual } from "node:util";
import type { Logger } from "../logging/logger.ts";
import type { Clock, Schedule, Stopwatch } from "../model/clock.ts";
import { type CommandSocket, exchange, type ExchangeLimits, type Predecessor } from "./command_connection.ts";
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
import { BacklogShare, Queue } from "./queue.ts";
import { parsePing, type PingReply } from "./parse_reply.ts";

export interface DaemonCommand<T> {
  readonly request: string;
  readonly parse: (reply: string) => T | undefined; // returns `undefined` for an invalid reply
  readonly queueKey: string; // see `Queue`
  readonly replyLimit: number; // milliseconds
  /** Milliseconds until the daemon can serve the next, see {@link Queue}; absent: until the reply. */
  readonly maxTurnMs?: number;
  readonly deadline: number; // by the stopwatch
  readonly signal: AbortSignal;
}

/** State of a daemon as plain data for a successor. */
export interface DaemonState {
  readonly failure?: Failure; // absent if up
  readonly facts?: PingReply; // from the last ping
}

export interface DaemonParts {
  readonly socket: CommandSocket;
  readonly limits: ExchangeLimits;
  readonly clock: Clock; // for certificate validity
  readonly elapsed: Stopwatch;
  readonly schedule: Schedule;
  readonly random: () => number; // from 0 to below 1; spreads checks of several instances
  readonly log: Logger;
  readonly known?: DaemonState; // state from a predecessor
  readonly learned: (state: DaemonState) => void; // called on changes
  readonly clusterMembers?: () => number; // instances that send commands, this one included. Default: 1
}

interface DaemonRole {
  readonly server: string;
  readonly instance: number; // from 1
  readonly address: string; // `host:port` of the listen socket
}

const SECOND = 1000;
const PROBE_MS = { least: 4 * SECOND, spread: SECOND }; // ping interval while down
/** Ping interval of an idle daemon: with the 5 s for connecting or handshake, a failure is noticed within 15 s. */
const IDLE_MS = { least: 9 * SECOND, spread: SECOND };
const REFRESH_MS = 600 * SECOND; // refresh interval of version and limit, with or without traffic
const RECHECK_MS = { least: 0, spread: SECOND }; // delay of the ping after a failed request
const TRIAL_MS = SECOND; // interval of trials by requests while all instances are down

const NOT_CHECKED = "not checked yet";

const QUEUE_LIMITS = { waiting: 128, perKey: 64 };
const MAX_WAIT_MS = 10 * SECOND; // longest wait; after it, another instance may be quicker

/** Physical daemon with queue and health. A certain failure marks it as down at once; any other only triggers a ping. */
export class Daemon {
  readonly #queue: Queue;
  readonly #share: BacklogShare;
  readonly #roles: DaemonRole[] = [];
  #users = 0; // logical servers that use it
  #checked: boolean; // whether its state is known; before, requests may try it
  #failure: Failure | undefined; // absent if up
  #suspected = false;
  #facts: PingReply | undefined;
  #heardAt = -Infinity;
  #askedAt = -Infinity;
  #triedAt = -Infinity;
  #latencyMs: number | undefined;
  #health: DaemonHealth | undefined; // cached `health`
  #checking = false; // whether a ping is queued or running
  #cancel: (() => void) | undefined;
  readonly #closing = new AbortController();

  constructor(readonly parts: DaemonParts) {
    this.#checked = parts.known !== undefined;
    this.#failure = parts.known?.failure;
    this.#facts = parts.known?.facts;
    const ready = parts.socket.tls !== undefined;
    this.#share = new BacklogShare(parts.clusterMembers ?? (() => 1));
    this.#queue = new Queue({ ...QUEUE_LIMITS, concurrency: () => this.#share.concurrency(ready) });
  }

  get up(): boolean {
    return this.#checked && this.#failure === undefined;
  }

  get unchecked(): boolean {
    return !this.#checked;
  }

  get facts(): PingReply | undefined {
    return this.#facts;
  }

  /** Returns a new object whenever health or facts have changed. */
  health(): DaemonHealth {
    return this.#health ??= this.#describe();
  }

  /** Adds a logical server. The first starts the checks, with a ping. */
  join(role: DaemonRole): void {
    this.#roles.push(role);
    if (this.#users++ === 0) this.#check();
  }

  mayTry(): boolean {
    return this.#queue.idle && this.parts.elapsed() - this.#triedAt >= TRIAL_MS;
  }

  /** Sends a command and always lets it complete. Never rejects. @param ping Whether it only checks the daemon. */
  send<T>(command: DaemonCommand<T>, ping = false): Promise<Exchange<T>> {
    const { queueKey, signal, deadline, maxTurnMs } = command;
    const { elapsed } = this.parts;
    const until = Math.min(elapsed() + MAX_WAIT_MS, deadline);
    let tookMs = 0;
    return this.#queue.take({
      queueKey,
      signal,
      maxWait: until - elapsed(),
      maxTurnMs,
      run: async (previous) => {
        let began = this.#triedAt = elapsed();
        const over = previous?.then(() => {
          began = elapsed();
          return this.#failure && failure(this.#failure.fault, "before", this.#failure.detail);
        });
        const result = await this.#exchange(command, over && { over, maxWait: until - began });
        tookMs = elapsed() - began;
        if (result.kind === "answered") this.#latencyMs = Math.round(tookMs);
        this.#learn(result, ping);
        return result;
      },
      pause: () => this.#share.pauseAfter(tookMs),
    });
  }

  /** Removes a logical server. The last one stops the checks and waits for running exchanges. */
  async leave(): Promise<void> {
    if (--this.#users > 0) return;
    this.#cancel?.();
    this.#closing.abort();
    await this.#queue.close();
  }

  #describe(): DaemonHealth {
    const reason = this.#failure ? describeFailure(this.#failure) : this.#checked ? undefined : NOT_CHECKED;
    return {
      up: this.up,
      unchecked: this.#checked ? undefined : true,
      reason,
      latencyMs: this.#latencyMs,
      unverifiable: this.parts.socket.tls?.allowUnverifiable || undefined,
    };
  }

  async #exchange<T>(
    { request, parse, replyLimit, deadline, signal }: DaemonCommand<T>,
    previous: Predecessor | undefined,
  ): Promise<Exchange<T>> {
    const { socket, limits: { connect, handshake }, clock, elapsed } = this.parts;
    let left = Infinity;
    const limits = () => {
      left = deadline - elapsed();
      return {
        connect: Math.min(connect, left),
        handshake: Math.min(handshake, left),
        reply: Math.min(replyLimit, left),
      };
    };
    const result = await exchange(socket, request, { limits, signal, clock, previous });
    if (result.kind === "failed") {
      const { fault } = result;
      const isCut = fault === "connect-timeout"
        ? left < connect
        : fault === "handshake-timeout" && left < handshake;
      // A step that the deadline cut short proves nothing about the daemon.
      return isCut ? failure("busy", "before", "the request had no time left") : result;
    }
    const reply = parse(result.reply);
    return reply === undefined ? failure("invalid-reply", "after") : { kind: "answered", reply };
  }

  #learn(result: Exchange<unknown>, ping: boolean): void {
    this.#health = undefined;
    if (result.kind === "answered") {
      this.#heardAt = this.parts.elapsed();
      this.#suspected = false;
      const wasDown = this.#failure !== undefined;
      const news = wasDown || !this.#checked;
      this.#checked = true;
      this.#failure = undefined;
      if (wasDown) this.parts.log.info("daemon is up again", this.#fields());
      if (wasDown && !ping) this.#check();
      if (news) this.#publish();
    } else if (isAboutDaemon(result)) {
      if (isCertain(result) || (ping && this.#suspected)) this.#down(result);
      else if (this.#failure === undefined) {
        this.#suspected = true;
        if (!ping && !this.#checking) this.#check();
      }
    }
  }

  #down(reason: Failure): void {
    const news = this.#failure === undefined;
    this.#failure = reason;
    this.#checked = true;
    this.#queue.drain(failure(reason.fault, "before", reason.detail));
    if (!news) return;
    this.parts.log.warn("daemon is down", { ...this.#fields(), reason: describeFailure(reason) });
    this.#publish();
    this.#plan();
  }

  #publish(): void {
    this.parts.learned({ failure: this.#failure, facts: this.#facts });
  }

  #fields() {
    const [first, ...others] = this.#roles;
    return { ...first, ...(others.length > 0 && { also: others.map(({ server }) => server).join(",") }) };
  }

  async #check(): Promise<void> {
    this.#cancel?.();
    const { elapsed, limits } = this.parts;
    this.#askedAt = elapsed();
    this.#checking = true;
    const result = await this.send({
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
      this.#health = undefined;
      this.#publish();
    }
    this.#plan();
  }

  #plan(): void {
    this.#cancel?.();
    if (this.#closing.signal.aborted) return;
    const { schedule, random, elapsed } = this.parts;
    const { least, spread } = this.#failure ? PROBE_MS : this.#suspected ? RECHECK_MS : IDLE_MS;
    const sinceHeard = this.#failure || this.#suspected ? 0 : Math.max(0, elapsed() - this.#heardAt);
    const wait = Math.max(0, least - sinceHeard) + spread * random();
    this.#cancel = schedule(wait, () => {
      const now = elapsed();
      const recent = now - this.#heardAt < IDLE_MS.least && now - this.#askedAt < REFRESH_MS;
      if (this.#failure === undefined && !this.#suspected && recent) this.#plan();
      else this.#check();
    });
  }
}
