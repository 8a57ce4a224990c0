import type { DaemonInstanceConfig } from "../config/service_config.ts";
import { realTime, type Stopwatch, stopwatch, unlessAborted } from "../model/clock.ts";
import { type HttpError, httpError, isHttpError } from "../model/http_error.ts";
import type { TlsMaterial } from "../model/tls_material.ts";
import type { ExchangeLimits } from "./command_connection.ts";
import { createSecret, encodeSession, encodeUserInfo } from "./encode_command.ts";
import type {
  DaemonGroup,
  DaemonHealth,
  GroupStatus,
  InstanceStatus,
  SessionGrant,
  SessionRequest,
  UserInfo,
} from "./daemon_group.ts";
import { describeFailure, type Failure } from "./exchange.ts";
import type { Daemon, DaemonCommand, DaemonParts } from "./daemon.ts";
import { Daemons } from "./daemons.ts";
import { parseSession, parseUserInfo, type PingReply, type SessionReply } from "./parse_reply.ts";
import { hostsOf } from "../model/address.ts";

/** Addresses of a physical daemon; without port, the daemon reports it. */
type Addresses =
  & Pick<DaemonInstanceConfig, "host" | "commandHost" | "commandPort" | "ssl">
  & Partial<DaemonInstanceConfig>;

interface DaemonGroupConfig {
  readonly name: string;
  readonly description: string;
  readonly instances: readonly Addresses[];
  readonly trust?: string; // name of its own anchors, if any
}

interface DaemonGroupParts
  extends Pick<DaemonParts, "clock" | "log">, Partial<Pick<DaemonParts, "elapsed" | "random" | "schedule">> {
  readonly tls: () => TlsMaterial; // called per connection
  readonly limits?: Partial<DaemonLimits>;
  readonly daemons?: Daemons; // daemons shared with other groups. Default: own ones
}

/** Limits in milliseconds, for steps and whole operations. */
export interface DaemonLimits extends ExchangeLimits {
  readonly userInfoReply: number;
  /** Longest turn of a user query. The daemon reads key files in a separate process: a hanging file must not block. */
  readonly userInfoPermit: number;
  readonly total: number;
}

/** Default limits; an idle daemon responds within 10 ms. */
export const DAEMON_LIMITS: DaemonLimits = {
  connect: 5_000,
  handshake: 5_000,
  reply: 15_000,
  userInfoReply: 20_000,
  userInfoPermit: 1_000,
  total: 30_000,
};

const REFUSALS = {
  limit: ["ERR_SESSION_LIMIT_REACHED", "has no free session for the account"],
  "no-encryption": ["ERR_ENCRYPTION_NOT_SUPPORTED", "does not encrypt"],
  refused: ["ERR_DAEMON_REFUSED", "refused the request"],
} as const;

interface Operation<T, R> {
  readonly signal: AbortSignal;
  readonly instance?: number; // only this instance, from 1
  readonly command: () => Omit<DaemonCommand<T>, "deadline" | "signal">;
  /** Returns the result, or an error to try the next instance with; throws to stop. @throws {ServiceError} */
  readonly evaluate: (reply: T, from: Instance) => { readonly result: R } | { readonly next: HttpError };
  readonly renew?: () => void; // called before a retry if the command may have been executed
  /** Index of the next instance, per kind of request: else alternating queries and sessions would reach one each. */
  readonly turn: { next: number };
}

/** Daemons of a logical server, which it pings. */
export class DaemonPool implements DaemonGroup {
  readonly name: string;
  readonly description: string;
  readonly #instances: readonly Instance[];
  readonly #limits: DaemonLimits;
  readonly #elapsed: Stopwatch;
  readonly #sessionTurn = { next: 0 };
  readonly #userInfoTurn = { next: 0 };
  #known: GroupStatus | undefined; // cached `status`

  constructor(readonly config: DaemonGroupConfig, readonly parts: DaemonGroupParts) {
    this.name = config.name;
    this.description = config.description;
    this.#limits = { ...DAEMON_LIMITS, ...parts.limits };
    this.#elapsed = parts.elapsed ?? stopwatch;
    const daemons = parts.daemons ?? new Daemons();
    this.#instances = config.instances.map((instance, index) => {
      const { host, port, commandHost, commandPort, ssl, expectedDn, allowUnverifiable } = instance;
      const tls = ssl ? { material: parts.tls, expectedDn, allowUnverifiable } : undefined;
      const daemon = daemons.at({ host: commandHost, port: commandPort, tls }, config.trust, {
        limits: this.#limits,
        clock: parts.clock,
        elapsed: this.#elapsed,
        schedule: parts.schedule ?? realTime,
        random: parts.random ?? Math.random,
        log: parts.log,
      });
      const made = new Instance(index + 1, { host, port }, daemon);
      daemon.join({ server: config.name, instance: made.number, address: made.address });
      return made;
    });
  }

  get size(): number {
    return this.#instances.length;
  }

  status(): GroupStatus {
    const known = this.#known;
    const current = (instance: Instance, i: number) => instance.status() === known?.instances[i];
    if (known !== undefined && this.#instances.every(current)) return known;
    const instances = this.#instances.map((instance) => instance.status());
    return this.#known = groupStatus(instances, this.#instances.flatMap(({ daemon }) => daemon.facts ?? []));
  }

  openSession(
    session: SessionRequest,
    { instance, signal }: { readonly instance?: number; readonly signal: AbortSignal },
  ): Promise<SessionGrant> {
    let secret = createSecret();
    return this.#operate<SessionReply, SessionGrant>({
      signal,
      instance,
      turn: this.#sessionTurn,
      command: () => ({
        request: encodeSession(session, secret),
        parse: parseSession,
        queueKey: `session ${session.user}`,
        replyLimit: this.#limits.reply,
      }),
      evaluate: (reply, from) => {
        if (reply.kind !== "expected") {
          const [code, text] = REFUSALS[reply.kind];
          const error = httpError(code, `${this.name} ${text}: ${from.address}: ${reply.text}`);
          if (reply.kind === "refused") throw error;
          return { next: error };
        }
        from.listensAt(reply.port);
        const { number: instance, listen: { host } } = from;
        return { result: { host, port: reply.port, secret, instance } };
      },
      // The failed instance may know the secret.
      renew: () => secret = createSecret(),
    });
  }

  userInfo(user: string, signal: AbortSignal): Promise<UserInfo> {
    return this.#operate({
      signal,
      turn: this.#userInfoTurn,
      command: () => ({
        request: encodeUserInfo(user),
        parse: parseUserInfo,
        queueKey: "user info",
        replyLimit: this.#limits.userInfoReply,
        maxTurnMs: this.#limits.userInfoPermit,
      }),
      evaluate: (result) => ({ result }),
    });
  }

  async close(): Promise<void> {
    await Promise.all(this.#instances.map(({ daemon }) => daemon.leave()));
  }

  async #operate<T, R>({ signal, instance, command, evaluate, renew, turn }: Operation<T, R>): Promise<R> {
    let next = command();
    const deadline = this.#elapsed() + this.#limits.total;
    const errors: HttpError[] = [];
    for (const candidate of instance === undefined ? this.#inTurn(turn) : this.#single(instance)) {
      signal.throwIfAborted();
      if (this.#elapsed() >= deadline) break;
      const outcome = await unlessAborted(candidate.daemon.send({ ...next, deadline, signal }), signal);
      if (outcome.kind === "answered") {
        const evaluation = evaluate(outcome.reply, candidate);
        if ("result" in evaluation) return evaluation.result;
        errors.push(evaluation.next);
      } else {
        errors.push(this.#toError(outcome, candidate));
        if (outcome.phase === "after") {
          renew?.();
          next = command();
        }
      }
    }
    const states = this.status().instances.map(({ address, reason }) => `${address}: ${reason ?? "up"}`);
    const failures = states.join("; ") || "none is configured";
    throw errors.find((error) => isHttpError(error, "ERR_SESSION_LIMIT_REACHED")) ??
      errors.find((error) => !isHttpError(error, "ERR_DAEMON_UNAVAILABLE")) ?? // failed after the request was sent
      errors.at(-1) ??
      httpError("ERR_DAEMON_UNAVAILABLE", `No instance of ${this.name} takes requests: ${failures}`);
  }

  /** Yields instances to try: those up in turn, then unchecked ones; without any, those due for a trial. */
  *#inTurn(turn: { next: number }): Iterable<Instance> {
    const ring = [...this.#instances.slice(turn.next), ...this.#instances.slice(0, turn.next)];
    let found = false;
    for (const good of ["up", "unchecked"] as const) {
      for (const instance of ring) {
        if (!instance.daemon[good]) continue;
        if (!found) turn.next = instance.number % this.#instances.length;
        found = true;
        yield instance;
      }
    }
    if (!found) yield* ring.filter(({ daemon }) => daemon.mayTry());
  }

  *#single(number: number): Iterable<Instance> {
    const instance = this.#instances[number - 1];
    if (instance === undefined) {
      throw httpError("ERR_INSTANCE_UNKNOWN", `${this.name} has no instance ${number}`);
    }
    const { daemon } = instance;
    if (daemon.up || daemon.unchecked || daemon.mayTry()) yield instance;
  }

  #toError(failure: Failure, { address }: Instance): HttpError {
    const reason = `${address}: ${describeFailure(failure)}`;
    if (failure.phase === "before") {
      return httpError("ERR_DAEMON_UNAVAILABLE", `No instance of ${this.name} takes requests: ${reason}`);
    }
    if (failure.fault === "reply-timeout") {
      return httpError("ERR_DAEMON_TIMEOUT", `${this.name} did not answer in time: ${reason}`);
    }
    return httpError("ERR_DAEMON_REPLY_INVALID", `${this.name} gave no valid answer: ${reason}`);
  }
}

function groupStatus(instances: readonly InstanceStatus[], facts: readonly PingReply[]): GroupStatus {
  const available = instances.filter(({ up }) => up).length;
  const limits = facts.flatMap(({ sessionLimit }) => sessionLimit ?? []);
  return {
    usable: available > 0,
    worthTrying: instances.some(({ up, unchecked }) => up || unchecked),
    unchecked: instances.length > 0 && instances.every(({ unchecked }) => unchecked),
    total: instances.length,
    available,
    instances,
    version: facts[0]?.version,
    sessionLimit: limits.length > 0 ? Math.min(...limits) : undefined,
  };
}

class Instance {
  #made: { readonly health: DaemonHealth; readonly status: InstanceStatus } | undefined;
  readonly #host: string;
  #reportedPort: number | undefined; // port that the daemon last reported with a session

  /** @param number From 1. @param listen Listen socket; without port, the daemon reports it. */
  constructor(
    readonly number: number,
    readonly listen: { readonly host: string; readonly port?: number },
    readonly daemon: Daemon,
  ) {
    this.#host = hostsOf(listen.host)[0] ?? listen.host;
  }

  /** `host:port` of the listen socket, or `host` while the port is unknown. */
  get address(): string {
    const port = this.listen.port ?? this.#reportedPort ?? this.daemon.facts?.listenPort;
    if (port !== undefined) return `${this.#host}:${port}`;
    return this.#host.includes(":") ? `[${this.#host}]` : this.#host;
  }

  listensAt(port: number): void {
    if (this.listen.port === undefined && this.#reportedPort !== port) {
      this.#reportedPort = port;
      this.#made = undefined;
    }
  }

  status(): InstanceStatus {
    const health = this.daemon.health();
    if (this.#made?.health !== health) {
      this.#made = { health, status: { instance: this.number, address: this.address, ...health } };
    }
    return this.#made.status;
  }
}
