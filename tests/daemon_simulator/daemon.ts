import assert from "node:assert/strict";
import type { Clock } from "../../src/model/clock.ts";
import type { CommandFault } from "./command_fault.ts";
import { CommandSocket, type CommandTls, type ReceivedRequest } from "./command_socket.ts";
import type { FaultPlan } from "./fault_plan.ts";
import { JobTable } from "./job_table.ts";
import { ListenSocket, type SessionRecord } from "./listen_socket.ts";
import type { SessionFault } from "./session_fault.ts";
import { userInfo } from "./user_info.ts";
import type { User, UserTable } from "./user_table.ts";

export interface DaemonOptions {
  /** Default: a plain-text command socket without access control. */
  readonly tls?: CommandTls;
  /** Text of the ACL file; default admits every trusted certificate. */
  readonly acl?: string;
  readonly users?: Readonly<Record<string, User>>;
  /** `MAX_CONNECTIONS`, sessions per account; default 8, as in the shipped configuration. */
  readonly maxSessions?: number;
  /** `ADVERTISE_HOST`. */
  readonly advertiseHost?: string;
  /** Whether the daemon accepts keys for data connections (the simulator does not encrypt); default true. */
  readonly cryptography?: boolean;
  /** `MAX_STREAMS`, data connections per session; default 4. Transfers work with one stream only. */
  readonly maxStreams?: number;
  /** `UFTP_NOWRITE`, below each home directory; default `.ssh/authorized_keys`. */
  readonly protectedFiles?: readonly string[];
  /** Whether a client must come from an announced address; default true. */
  readonly ipCheck?: boolean;
  /** Address of the listen socket, default `127.0.0.1`; `::` sees IPv4 clients as `::ffff:…`. */
  readonly listenHost?: string;
  /** IANA name of the daemon's time zone, default the system's. */
  readonly timeZone?: string;
  /** Longest wait for a data connection, in milliseconds; default 30 000. */
  readonly dataTimeout?: number;
  /** Clock for expiry and sweeps; default the system's. */
  readonly clock?: Clock;
  /** Default `3.5.3`. */
  readonly version?: string;
}

/** Starts a transfer daemon on free ports of the loopback interface. */
export async function startDaemon(options: DaemonOptions = {}): Promise<DaemonSimulator> {
  const daemon = new DaemonSimulator(options);
  await daemon.start();
  return daemon;
}

/** Transfer daemon that behaves on the wire like UFTPD 3.5.3, or shows the faults that a test sets. */
export class DaemonSimulator implements AsyncDisposable {
  readonly users: UserTable;
  readonly #command: CommandSocket;
  readonly #listen: ListenSocket;
  #jobs: JobTable;

  constructor(private readonly options: DaemonOptions) {
    this.users = new Map(Object.entries(options.users ?? {}));
    this.#jobs = this.#newJobs();
    this.#command = new CommandSocket({
      tls: options.tls,
      acl: options.acl ?? ",",
      answer: (values) => this.#answer(values),
    });
    this.#listen = new ListenSocket({
      bind: options.listenHost ?? "127.0.0.1",
      users: this.users,
      jobs: () => this.#jobs,
      ipCheck: options.ipCheck ?? true,
      version: this.#version,
      advertiseHost: options.advertiseHost,
      maxStreams: options.maxStreams ?? 4,
      protectedFiles: options.protectedFiles ?? [".ssh/authorized_keys"],
      dataTimeout: options.dataTimeout ?? 30_000,
      timeZone: options.timeZone,
    });
  }

  /** Address of both sockets for clients. */
  readonly host = "127.0.0.1";

  get commandPort(): number {
    return this.#command.listener.port;
  }

  get listenPort(): number {
    return this.#listen.listener.port;
  }

  /** Number of open connections on both sockets; 0 once all clients are done. */
  get openConnections(): number {
    return this.#command.listener.open + this.#listen.listener.open;
  }

  /** Control connections in the order of their arrival. */
  get sessions(): readonly SessionRecord[] {
    return this.#listen.records;
  }

  /** Command connections accepted so far. */
  get connections(): number {
    return this.#command.connections;
  }

  /** Largest number of concurrent command connections so far. */
  get mostAtOnce(): number {
    return this.#command.mostAtOnce;
  }

  /** Makes this many replies wait until another command connection is open. */
  set repliesWithNext(count: number) {
    this.#command.repliesWithNext = count;
  }

  get failedHandshakes(): number {
    return this.#command.failedHandshakes;
  }

  /** Requests in the order of their arrival. */
  get requests(): readonly ReceivedRequest[] {
    return this.#command.requests;
  }

  /** Values of the requests that announced a session, in the order of arrival; pings may follow the last. */
  get sessionRequests(): readonly ReadonlyMap<string, string>[] {
    return this.requests.flatMap(({ values }) =>
      values?.get("request-type") === "uftp-transfer-request" ? [values] : []
    );
  }

  /**
   * Command connections that ended after the handshake without `END`; each would have killed a real daemon.
   */
  get wedged(): number {
    return this.#command.wedged;
  }

  get jobs(): JobTable {
    return this.#jobs;
  }

  get commandFaults(): FaultPlan<CommandFault> {
    return this.#command.faults;
  }

  /** Faults of control connections on the listen socket. */
  get sessionFaults(): FaultPlan<SessionFault> {
    return this.#listen.faults;
  }

  /** Fault of every command connection until it is set to `undefined`. */
  set fault(fault: CommandFault | undefined) {
    this.#command.faults.always = fault;
  }

  get fault(): CommandFault | undefined {
    return this.#command.faults.always;
  }

  /** Pause before each reply on the command socket, in milliseconds. */
  set delay(milliseconds: number) {
    this.#command.delay = milliseconds;
  }

  /** Promise that replies wait for. */
  set hold(until: Promise<void> | undefined) {
    this.#command.hold = until;
  }

  /** Text of the ACL file. */
  set acl(text: string) {
    this.#command.acl = text;
  }

  /** Whether replies end with a TLS `close_notify`. */
  set closeNotify(wanted: boolean) {
    this.#command.closeNotify = wanted;
  }

  /** Starts to listen, after a stop on the same ports. */
  async start(): Promise<void> {
    await Promise.all([this.#command.start(), this.#listen.listener.start()]);
  }

  /** Stops as in a crash: refuses connections and forgets all jobs. */
  async stop(): Promise<void> {
    await Promise.all([this.#command.stop(), this.#listen.stop()]);
    this.#jobs = this.#newJobs();
  }

  async close(): Promise<void> {
    await this.stop();
  }

  assertNeverWedged(): void {
    assert.equal(
      this.wedged,
      0,
      "Command connections ended after the handshake without END: the daemon is dead",
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
    this.assertNeverWedged();
  }

  #newJobs(): JobTable {
    return new JobTable(this.options.clock ?? Date.now, this.options.maxSessions ?? 8);
  }

  #answer(values: ReadonlyMap<string, string>): string | undefined | null {
    const type = values.get("request-type") ?? "n/a";
    switch (type) {
      case "uftp-ping-request":
        return this.#ping();
      case "uftp-get-user-info-request":
        return userInfo(this.users, values.get("user"), this.#version);
      case "uftp-transfer-request":
        return this.#addJob(values);
      default:
        return `ERROR::Unsupported request type '${type}'`;
    }
  }

  get #version(): string {
    return this.options.version ?? "3.5.3";
  }

  #ping(): string {
    return [
      `Version: ${this.#version}`,
      `ListenPort: ${this.listenPort}`,
      "ListenAddress: localhost",
      `MaxSessionsPerClient: ${this.options.maxSessions ?? 8}`,
      this.options.advertiseHost === undefined ? "" : `AdvertiseAddress: ${this.options.advertiseHost}`,
    ].join("\n");
  }

  #addJob(values: ReadonlyMap<string, string>): string {
    try {
      this.#jobs.add(values, this.options.cryptography ?? true);
      return `OK::${this.listenPort}`;
    } catch (error) {
      if (error instanceof Error) return `ERROR::${error.message}`;
      throw error;
    }
  }
}
