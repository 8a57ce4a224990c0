import { canonicalAddress } from "../../model/address.ts";
import type { AccessPermission, DaemonGroup, InstanceStatus, SessionRequest } from "../daemon_group.ts";
import { onError } from "../../model/attempt.ts";
import type { Secret } from "../../model/secret.ts";
import { HttpError, httpError, isHttpError } from "../../model/http_error.ts";
import { FairSemaphore } from "../../model/fair_semaphore.ts";
import { type IdleSession, SessionQuota, type SessionQuotaOptions, type Slot } from "./session_quota.ts";
import { ControlConnection } from "./control_connection.ts";
import { DaemonSession } from "./daemon_session.ts";
import { connectToPeer, DataPorts } from "./data_ports.ts";
import { GuardedSocket } from "./guarded_socket.ts";
import { SESSION_TIMES, type SessionTimes } from "./session_times.ts";
import { nothingThere, SessionEnded } from "./session_errors.ts";
import { refusal } from "./reply_reader.ts";

const SERIAL = { maxConcurrent: 1, waiting: Infinity, perKey: Infinity };

/** Limits of a session, as in a session request. */
export interface SessionScope {
  readonly file: string; // ends in `/`
  readonly includes: string;
  readonly excludes?: string;
}

/** Session of this service for one HTTP request. */
export interface OwnSession {
  readonly user: string;
  readonly group?: string;
  readonly scope: SessionScope;
  readonly permission: AccessPermission;
  readonly rateLimit: number; // bytes per second; 0: no limit
  readonly instance?: number; // only this instance, from 1
  /** Reports whether the session may use a path; see {@link DaemonSession}. */
  readonly reaches?: (path: string) => boolean;
  /** Whether the next caller with the same account, scope and rights may reuse the session. */
  readonly keep?: boolean;
}

/** Used part of a logical server. */
export interface SessionDaemons extends Pick<DaemonGroup, "openSession"> {
  status(): { readonly instances: readonly Candidate[]; readonly sessionLimit?: number };
}

interface SessionClientOptions {
  /** Addresses in session requests (`share.clientIP`). Default: the connection's local one. */
  readonly clientAddresses?: readonly string[];
  readonly times?: SessionTimes;
  readonly sessionQuota?: Partial<SessionQuotaOptions>;
}

type Candidate = Pick<InstanceStatus, "instance" | "address" | "up">;

interface Listening {
  readonly instance: number;
  readonly host: string;
  readonly port: number;
}

interface KeptSession extends IdleSession {
  readonly control: ControlConnection;
  readonly listening: Listening;
  readonly life: AbortController; // ends its connections
}

const DEFAULT_LIMIT = 8; // daemon's default limit, until it reports one
const AVOIDED_MS = 10_000; // time in which a daemon that failed comes last: each attempt can take seconds
/** Statuses of failures that another daemon may not have; its host may have the directory (404). */
const ELSEWHERE = [404, 429, 502, 503, 504];
/** Refusals of a login that concern account or group, on every daemon (daemon-protocol.md 1.8). */
const ABOUT_ACCOUNT = /^PASS answered 530 .*(?:'root'|unknown (?:user|primary|suppl)|not a member)/;

/** Opens own sessions on the daemons of one logical server. */
export class SessionClient {
  readonly #sessionQuota: SessionQuota<KeptSession>;
  readonly #times: SessionTimes;
  /** Per instance, like {@link DataPorts}. */
  readonly #semaphore = new Map<number, FairSemaphore>();
  readonly #ports = new Map<number, DataPorts>();
  readonly #failed = new Map<number, number>(); // time of the last failure, by `performance.now()`
  #turn = 0;

  constructor(readonly daemons: SessionDaemons, readonly options: SessionClientOptions) {
    this.#times = options.times ?? SESSION_TIMES;
    this.#sessionQuota = new SessionQuota({
      // A quarter stays free for the owner's direct sessions.
      limit: () => Math.max(1, Math.floor((daemons.status().sessionLimit ?? DEFAULT_LIMIT) * 0.75)),
      ...options.sessionQuota,
    });
  }

  /** Opens and logs in a session, on another daemon if one is unreachable or full. @param signal Ends the session. */
  async open(wanted: OwnSession, signal: AbortSignal): Promise<DaemonSession> {
    const { user, group, scope, permission, rateLimit } = wanted;
    const key = wanted.keep ? JSON.stringify([user, group, scope, permission, rateLimit]) : undefined;
    let candidates = this.#candidates(wanted.instance);
    for (let failure: unknown;;) {
      if (candidates.length === 0) {
        throw failure ?? httpError("ERR_LISTEN_SOCKET_UNREACHABLE", "No such instance");
      }
      const since = performance.now() - AVOIDED_MS;
      const good = candidates.filter(({ instance }) => (this.#failed.get(instance) ?? since) <= since);
      const instances = (good.length > 0 ? good : candidates).map(({ instance }) => instance);
      const slot = await this.#sessionQuota.acquire(user, instances, signal, key);
      if (slot.idle !== undefined) {
        if (!slot.idle.control.socket.stirred) {
          return this.#session(slot.idle, wanted, { slot, key, unlink: link(signal, slot.idle.life) });
        }
        slot.idle.close();
        slot.release(true);
        continue;
      }
      const candidate = candidates.find(({ instance }) => instance === slot.instance);
      const life = new AbortController();
      const unlink = link(signal, life);
      let used = false;
      try {
        if (candidate === undefined) throw httpError("ERR_LISTEN_SOCKET_UNREACHABLE", "No such instance");
        const listening = await this.#listening(candidate, wanted, life.signal);
        const connected = await this.#connect(listening, life.signal);
        used = true;
        const control = await this.#logIn(connected, listening, wanted);
        return this.#session({ control, listening, life }, wanted, { slot, key, unlink });
      } catch (error) {
        unlink();
        slot.release(used);
        const isFinal = !(error instanceof HttpError) || !ELSEWHERE.includes(error.status) ||
          error.code === "ERR_DAEMON_REFUSED" || ABOUT_ACCOUNT.test(error.message);
        if (isFinal || signal.aborted) throw error;
        if (error.status > 500) this.#failed.set(slot.instance, performance.now());
        failure = isHttpError(error, "ERR_NOT_FOUND") ? failure ?? error : error;
        candidates = candidates.filter((other) => other !== candidate);
      }
    }
  }

  close(): void {
    this.#sessionQuota.close();
  }

  #session(
    { control, listening, life }: Pick<KeptSession, "control" | "listening" | "life">,
    wanted: OwnSession,
    { slot, key, unlink }: { slot: Slot<KeptSession>; key: string | undefined; unlink: () => void },
  ): DaemonSession {
    return new DaemonSession(control, {
      ports: this.#ports.getOrInsertComputed(
        listening.instance,
        () => new DataPorts(listening.host, this.#times),
      ),
      times: this.#times,
      reaches: wanted.reaches,
      reconnect: async () =>
        await this.#logIn(await this.#connect(listening, life.signal), listening, wanted),
      onClose: (idle) => {
        unlink();
        const close = () => idle?.close();
        if (idle !== undefined && key !== undefined && !life.signal.aborted) {
          idle.socket.watchIdle();
          return slot.keep({ key, control: idle, listening, life, close });
        }
        close();
        slot.release(true);
      },
    });
  }

  /** Returns live instances in turn, or all if none is known to be up. */
  #candidates(wanted: number | undefined): Candidate[] {
    const { instances } = this.daemons.status();
    if (wanted !== undefined) return instances.filter(({ instance }) => instance === wanted);
    const live = instances.filter(({ up }) => up);
    const usable = live.length > 0 ? live : [...instances];
    const first = usable.length === 0 ? 0 : this.#turn++ % usable.length;
    return [...usable.slice(first), ...usable.slice(0, first)];
  }

  /** Finds the port of a candidate; if it is unknown, requests a session that is never used. */
  async #listening({ instance, address }: Candidate, wanted: OwnSession, signal: AbortSignal) {
    const { host, port } = splitAddress(address);
    if (port !== undefined) return { instance, host, port };
    const grant = await this.daemons.openSession(requestOf(wanted, ["127.0.0.1"]), { instance, signal });
    return { instance, host, port: grant.port };
  }

  /** Connects and reads the greeting, one at a time: TCP retries dropped connections only after a second. */
  async #connect({ instance, host, port }: Listening, signal: AbortSignal): Promise<ControlConnection> {
    const semaphore = this.#semaphore.getOrInsertComputed(instance, () => new FairSemaphore(SERIAL));
    const late = AbortSignal.timeout(this.#times.connectMs * 2);
    const maxWait = AbortSignal.any([signal, late]);
    const greeted = async () =>
      await this.#greeting(await GuardedSocket.connect(host, port, this.#times.connectMs, signal));
    const turn = semaphore.run(greeted, { queueKey: "", known: false, signal: maxWait });
    return await turn.catch((error: unknown) => {
      const reason = `No turn to connect to ${host}:${port} in time`;
      throw error === late.reason ? httpError("ERR_LISTEN_SOCKET_UNREACHABLE", reason) : error;
    });
  }

  /** Connects, then announces the session with the connection's local address: the daemon needs it at `PASS`. */
  async #logIn(
    first: ControlConnection,
    { instance, host, port }: Listening,
    wanted: OwnSession,
  ): Promise<ControlConnection> {
    const { socket, socket: { signal } } = first;
    let control = first;
    try {
      const { clientAddresses: configured = [] } = this.options;
      const local = socket.connection.localAddr.hostname;
      const clients = configured.length > 0 ? configured : [canonicalAddress(local) ?? local];
      const grant = await this.daemons.openSession(requestOf(wanted, clients), { instance, signal });
      if (grant.port !== port) {
        socket.close();
        control = await this.#greeting(await connectToPeer(socket, host, grant.port, this.#times));
      }
      await logIn(control, grant.secret, wanted.scope);
      return control;
    } catch (error) {
      control.socket.close();
      throw error;
    }
  }

  async #greeting(socket: GuardedSocket): Promise<ControlConnection> {
    try {
      const control = new ControlConnection(socket, this.#times.replyMs);
      const { code, text } = await control.readReply(this.#times.connectMs);
      if (code !== 220) throw httpError("ERR_DAEMON_SESSION", `Greeting was ${code} ${text}`);
      return control;
    } catch (error) {
      socket.close();
      throw error;
    }
  }
}

function requestOf(
  { user, group, scope, permission, rateLimit }: OwnSession,
  clientAddresses: readonly string[],
): SessionRequest {
  const single = { persistent: false, streams: 1, compress: false };
  return { ...single, user, group, clientAddresses, ...scope, permission, rateLimit };
}

/** Makes a request's signal end the connections of a session. @returns Ends the link. */
function link(signal: AbortSignal, life: AbortController): () => void {
  const end = () => life.abort(signal.reason);
  if (signal.aborted) end();
  else signal.addEventListener("abort", end);
  return () => signal.removeEventListener("abort", end);
}

/** Splits `host:port`, IPv6 in brackets or bare; without a port in brackets. */
function splitAddress(address: string): { readonly host: string; readonly port: number | undefined } {
  const colon = address.endsWith("]") ? -1 : address.lastIndexOf(":");
  const host = (colon < 0 ? address : address.slice(0, colon)).replace(/^\[(.*)\]$/, "$1");
  return { host, port: colon < 0 ? undefined : Number(address.slice(colon + 1)) };
}

/** Logs in (daemon-protocol.md 5.2). @throws {ERR_NOT_FOUND | ERR_TOO_MANY_SESSIONS} Also errors of commands. */
async function logIn(control: ControlConnection, secret: Secret, { file }: SessionScope): Promise<void> {
  await control.expect(331, "USER anonymous");
  const reply = await control.command(`PASS ${secret.reveal()}`);
  if (reply.code === 500 && /already running|too many/i.test(reply.text)) {
    throw httpError("ERR_TOO_MANY_SESSIONS", `Login refused: ${reply.text}`);
  }
  if (reply.code !== 230) throw refusal("PASS", reply);
  control.isLoggedIn = true;
  // A daemon drops a session after `230` if its base directory is missing (daemon-protocol.md 1.8); the root never is.
  await control.expect(200, "NOOP").catch(onError(SessionEnded, (error) => {
    throw file === "/" ? error : nothingThere("Daemon dropped the session after the login", error);
  }));
}
