import type { Clock } from "../../src/model/clock.ts";
import { PythonError } from "./python_text.ts";

const LIFETIME_S = 300;
const SWEEP_MS = 5000;

/** Login with a job, active until `endedAt` (milliseconds since the epoch). */
export interface Login {
  endedAt?: number;
}

/** Session that was announced, and may have begun. */
export interface Job {
  readonly values: ReadonlyMap<string, string>;
  readonly user: string;
  /** Requested groups, primary first. */
  readonly groups: readonly string[];
  readonly persistent: boolean;
  /** Seconds since the epoch. */
  readonly expires: number;
  readonly logins: Login[];
}

/**
 * Jobs by secret, and their slots by account (daemon-protocol.md 1.9). The sweep needs no timer: each call
 * first does the work of the latest due sweep, with the same effect.
 */
export class JobTable {
  readonly #jobs = new Map<string, Job>();
  readonly #slots = new Map<string, number>();
  readonly #start: number;
  #lastSweep = 0;

  constructor(private readonly clock: Clock, private readonly limit: number) {
    this.#start = clock();
  }

  /** Registers a job. @throws {PythonError} With the text that follows `ERROR::`. */
  add(values: ReadonlyMap<string, string>, cryptography: boolean): void {
    this.#sweep();
    const user = required(values, "user");
    if (this.slots(user) === this.limit) {
      throw new PythonError(`Too many active sessions for '${user}' - server limit is ${this.limit}`);
    }
    const secret = required(values, "secret");
    if (this.#jobs.has(secret)) throw new PythonError("Duplicate secret - this is not allowed.");
    if (values.has("key") && !cryptography) {
      throw new PythonError("Encrypted connections are not supported by this UFTPD server.");
    }
    const groups = (values.get("group") ?? "NONE").split(":");
    this.#count(user, 1);
    this.#jobs.set(secret, {
      values,
      user,
      groups: groups.length === 1 ? [...groups, "DEFAULT_GID"] : groups,
      persistent: values.get("persistent")?.toLowerCase() === "true",
      expires: Math.floor(this.clock() / 1000) + LIFETIME_S,
      logins: [],
    });
  }

  find(secret: string): Job | undefined {
    this.#sweep();
    return this.#jobs.get(secret);
  }

  /** Begins a login. @throws {PythonError} With the text of the reply if the job allows no further login. */
  enter(job: Job): Login {
    this.#sweep();
    if (job.logins.length > 0) {
      if (!job.persistent) throw new PythonError("500 Session for these credentials is already running");
      if (this.slots(job.user) + 1 > this.limit) {
        throw new PythonError(
          `500 Too many active transfer requests / sessions for '${job.user}' - server limit is ${this.limit}`,
        );
      }
      this.#count(job.user, 1);
    }
    const login = {};
    job.logins.push(login);
    return login;
  }

  /** Ends a login; its slot stays taken until the next sweep. */
  leave(login: Login): void {
    login.endedAt = this.clock();
  }

  /** Returns the number of occupied slots of an account. */
  slots(user: string): number {
    this.#sweep();
    return this.#slots.get(user) ?? 0;
  }

  /** Number of jobs, announced or running. */
  get size(): number {
    this.#sweep();
    return this.#jobs.size;
  }

  #count(user: string, change: number): void {
    this.#slots.set(user, (this.#slots.get(user) ?? 0) + change);
  }

  #sweep(): void {
    const instant = this.clock() - (this.clock() - this.#start) % SWEEP_MS;
    if (instant <= this.#lastSweep) return;
    this.#lastSweep = instant;
    for (const [secret, job] of this.#jobs) {
      if (job.logins.length === 0) {
        if (instant / 1000 <= job.expires) continue;
        this.#count(job.user, -1);
        this.#jobs.delete(secret);
        continue;
      }
      const ended = job.logins.filter(({ endedAt }) => endedAt !== undefined && endedAt <= instant);
      for (const login of ended) job.logins.splice(job.logins.indexOf(login), 1);
      this.#count(job.user, -ended.length);
      if (job.logins.length === 0) this.#jobs.delete(secret);
    }
  }
}

/** Returns a required value; without it, the daemon replies with the key, as Python's `KeyError` shows it. */
function required(values: ReadonlyMap<string, string>, key: string): string {
  const value = values.get(key);
  if (value === undefined) throw new PythonError(`'${key}'`);
  return value;
}
