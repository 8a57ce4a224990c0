import type { Socket } from "node:net";
import { ControlChannel, ControlClosed } from "./control_channel.ts";
import { FaultPlan } from "./fault_plan.ts";
import type { Job } from "./job_table.ts";
import { Listener } from "./listener.ts";
import { logIn, type LoginHost } from "./login.ts";
import { Session, type SessionHost } from "./session.ts";
import type { SessionFault } from "./session_fault.ts";
import { loginObstacle, type UserTable } from "./user_table.ts";

/** Record of a control connection, for the assertions of a test. */
export interface SessionRecord {
  /** Account, once logged in. */
  readonly user?: string;
  /** Announced values, once logged in. */
  readonly values?: ReadonlyMap<string, string>;
  /** Lines received, passwords as `***`. */
  readonly commands: readonly string[];
  readonly ended: boolean;
  /** Error that ended it, not `QUIT` or a close by the client: unusable values, bytes that are not UTF-8. */
  readonly failure?: string;
}

export interface ListenSocketOptions extends Omit<SessionHost, "home">, Omit<LoginHost, "jobs"> {
  /** Address to bind; `::` also accepts IPv4 clients and sees them as `::ffff:…`. */
  readonly bind: string;
  readonly users: UserTable;
  readonly jobs: () => LoginHost["jobs"];
}

/** The listen socket with all its sessions and their logins (daemon-protocol.md 5). */
export class ListenSocket {
  readonly faults = new FaultPlan<SessionFault>();
  readonly records: SessionRecord[] = [];
  readonly listener: Listener;
  readonly #running = new Map<Promise<void>, Session | undefined>();

  constructor(private readonly options: ListenSocketOptions) {
    this.listener = new Listener(options.bind, (socket) => {
      const serving: Promise<void> = this.#serve(socket, (session) => this.#running.set(serving, session))
        .finally(() => this.#running.delete(serving));
      this.#running.set(serving, undefined);
    });
  }

  /** Ends every session and waits until the last has ended. */
  async stop(): Promise<void> {
    await this.listener.stop();
    for (const session of this.#running.values()) session?.destroy();
    await Promise.all(this.#running.keys());
  }

  async #serve(socket: Socket, began: (session: Session) => void): Promise<void> {
    const control = new ControlChannel(socket);
    const record: { -readonly [Key in keyof SessionRecord]: SessionRecord[Key] } = {
      commands: control.received,
      ended: false,
    };
    this.records.push(record);
    try {
      await this.#converse(control, this.faults.next(), (job) => {
        record.user = job.user;
        record.values = job.values;
      }, began);
    } catch (error) {
      if (!(error instanceof ControlClosed)) record.failure = String(error);
    } finally {
      await control.close();
      record.ended = true;
    }
  }

  async #converse(
    control: ControlChannel,
    fault: SessionFault | undefined,
    entered: (job: Job) => void,
    began: (session: Session) => void,
  ): Promise<void> {
    if (fault?.kind === "close-at-once") return;
    if (fault?.kind === "no-greeting") return await this.#silence(control);
    const jobs = this.options.jobs();
    const entry = await logIn(control, { ...this.options, jobs });
    if (entry === undefined) return;
    entered(entry.job);
    try {
      if (fault?.kind === "reply" && fault.to === "PASS") return control.reply(fault.reply);
      await this.#runSession(control, entry.job, fault, began);
    } finally {
      jobs.leave(entry.login);
    }
  }

  async #runSession(
    control: ControlChannel,
    job: Job,
    fault: SessionFault | undefined,
    began: (session: Session) => void,
  ): Promise<void> {
    const { users } = this.options;
    if (job.user.includes("\0")) return;
    const obstacle = loginObstacle(users, job.user, job.groups);
    if (obstacle !== undefined) return control.reply(`530 Not logged in: ${obstacle}`);
    control.reply("230 Login successful");
    if (fault?.kind === "close-after-login") return;
    const session = new Session(
      control,
      job,
      { ...this.options, home: users.get(job.user)?.home ?? "/" },
      fault,
    );
    began(session);
    await session.run();
  }

  async #silence(control: ControlChannel): Promise<void> {
    while (await control.readLine() !== undefined);
  }
}
