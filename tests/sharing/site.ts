import { until } from "../fixtures/deadline.ts";
import assert from "node:assert/strict";
import { DaemonPool } from "../../src/daemon/daemon_pool.ts";
import type { DaemonGroup } from "../../src/daemon/daemon_group.ts";
import { SILENT } from "../../src/logging/logger.ts";
import { mediatedScope } from "../../src/files/session_scope.ts";
import type { DaemonSession } from "../../src/daemon/session/daemon_session.ts";
import { type OwnSession, SessionClient } from "../../src/daemon/session/session_client.ts";
import { UnfinishedUploads } from "../../src/resource/access/drop/unfinished_uploads.ts";
import { PathLocks } from "../../src/resource/share/path_locks.ts";
import type { SharingParts } from "../../src/resource/share/sharing_parts.ts";
import { openShareStore, type ShareStore } from "../../src/sharing/store/share_store.ts";
import { IN_MEMORY } from "../../src/store/sqlite_database.ts";
import { SESSION_TIMES } from "../../src/daemon/session/session_times.ts";
import { type DaemonOptions, type DaemonSimulator, startDaemon } from "../daemon_simulator/daemon.ts";

/** Time of the last change of a site's files: 4 March 2026, 05:06:07 UTC, in seconds since the epoch. */
export const LONG_AGO = 1772600767;

/** Short time limits, for tests of silent daemons. */
export const SHORT_TIMES = {
  ...SESSION_TIMES,
  connectMs: 500,
  replyMs: 500,
  dataIdleMs: 500,
  clientIdleMs: 500,
};

/** Transfer daemon with a real temporary folder, and the service's access to it. */
export class Site implements AsyncDisposable {
  #store: ShareStore | undefined;

  private constructor(
    readonly daemon: DaemonSimulator,
    readonly group: DaemonGroup,
    readonly sessions: SessionClient,
    /** The folder, without trailing slash. The canary lies beside it. */
    readonly root: string,
    readonly canary: string,
    private readonly folder: string,
  ) {}

  static async open(
    options: DaemonOptions = {},
    times: Partial<typeof SESSION_TIMES> = {},
    sessionQuota: ConstructorParameters<typeof SessionClient>[1]["sessionQuota"] = {},
  ): Promise<Site> {
    const folder = await Deno.realPath(await Deno.makeTempDir());
    const root = `${folder}/data`;
    await Deno.mkdir(`${root}/d/sub`, { recursive: true });
    await Deno.mkdir(`${root}/d2`);
    const canary = `${folder}/canary`;
    await Deno.writeTextFile(canary, "CANARY");
    await Deno.writeTextFile(`${root}/d2/canary`, "CANARY");
    await Deno.writeTextFile(`${root}/d/ten.txt`, "0123456789");
    await Deno.writeTextFile(`${root}/d/sub/x.dat`, "x");
    // Backdates the files, since the service sends no ranges of files that were just written.
    for (const name of ["ten.txt", "sub/x.dat"]) await Deno.utime(`${root}/d/${name}`, LONG_AGO, LONG_AGO);
    const daemon = await startDaemon({
      users: {
        alice: { uid: 1001, home: root, groups: ["users", "hpc"] },
        carol: { uid: 1003, home: `${folder}/carol`, groups: ["hpc", "proj"] },
        dave: { uid: 1004, home: `${folder}/dave`, groups: ["hpc"] },
      },
      maxSessions: 10_000,
      timeZone: "UTC",
      ...options,
    });
    const group = new DaemonPool({
      name: "HPC",
      description: "test",
      instances: [{
        host: daemon.host,
        port: daemon.listenPort,
        commandHost: daemon.host,
        commandPort: daemon.commandPort,
        ssl: false,
      }],
    }, { tls: () => ({ certificate: "", key: "", anchors: [] }), clock: Date.now, log: SILENT });
    await until(() => !group.status().unchecked, { everyMs: 1 });
    const sessions = new SessionClient(group, {
      times: { ...SESSION_TIMES, ...times },
      sessionQuota,
    });
    return new Site(daemon, group, sessions, root, canary, folder);
  }

  /** Records of uploads and temporary files, in memory. */
  get uploads(): SharingParts["uploads"] {
    this.#store ??= openShareStore(IN_MEMORY, Date.now);
    return { locks: new PathLocks(), unfinished: new UnfinishedUploads(this.#store.uploads) };
  }

  /** Opens a session of alice for one path below the folder. */
  session(
    path: string,
    options: Partial<OwnSession> = {},
    signal: AbortSignal = new AbortController().signal,
  ): Promise<DaemonSession> {
    const scope = mediatedScope(`${this.root}/${path}`);
    return this.sessions.open({ user: "alice", scope, permission: "READ", rateLimit: 0, ...options }, signal);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#store?.close();
    this.sessions.close();
    await this.group.close();
    await this.allClosed();
    await this.daemon[Symbol.asyncDispose]();
    await Deno.remove(this.folder, { recursive: true });
  }

  /** Closes kept sessions and waits until no connection to the daemon is open. */
  async allClosed(): Promise<void> {
    this.sessions.close();
    const end = performance.now() + 3000;
    while (this.daemon.openConnections > 0) {
      assert.ok(performance.now() < end, `${this.daemon.openConnections} connections are still open`);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  }
}
