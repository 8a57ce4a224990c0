import { until } from "../../fixtures/deadline.ts";
import assert from "node:assert/strict";
import { once } from "node:events";
import type { ClientRequest, IncomingMessage } from "node:http";
import { type Agent, request } from "node:https";
import { DatabaseSync } from "node:sqlite";
import { formatScrypt, hashWithScrypt } from "../../../src/authentication/password/stored_hash.ts";
import { runCommand } from "../../../src/command/run_command.ts";
import { recordedIo } from "../../command/recorded_io.ts";
import type { DaemonOptions } from "../../daemon_simulator/daemon.ts";
import type { Authority } from "../../pki/authority.ts";
import { LONG_AGO } from "../../sharing/site.ts";
import {
  ALICE,
  ALICE_DN,
  createSite,
  MAP,
  passwordLine,
  PASSWORDS,
  runAt,
  type Site,
  type SystemUnderTest,
  withProperties,
} from "../running_service.ts";

/** User who can sign in and has no account on the daemon. */
export const BOB = ["bob", "builder-1999"] as const;
export const BOB_DN = "CN=Bob,O=Demo,C=EU";

export const EVERYBODY = "CN=ANONYMOUS,O=UNKNOWN,OU=UNKNOWN";

/** Request whose answer a test may read or leave unread. */
export interface Ask {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly as?: readonly [name: string, password: string];
  readonly agent?: Agent;
}

export interface SharingSetting {
  readonly daemon?: DaemonOptions;
  /** Further Unix groups on the daemon's host. */
  readonly groups?: readonly string[];
  /** Further lines of the main file. */
  readonly properties?: Readonly<Record<string, string>>;
  /** Further lines of the password file. */
  readonly passwords?: string;
  /** Further entries of the map file. */
  readonly map?: Readonly<Record<string, unknown>>;
  /** Files as in {@link createSite}. */
  readonly files?: Readonly<Record<string, string>>;
  readonly authority?: Authority;
}

/** Creates a configuration with sharing on its server `HPC`, whose daemon serves a folder of Alice's. */
export async function createSharingSite(
  { daemon = {}, groups = [], properties = {}, passwords = "", map = {}, files, authority }: SharingSetting =
    {},
): Promise<Site & { readonly data: string }> {
  const data = await Deno.realPath(await Deno.makeTempDir({ prefix: "authserver-data-" }));
  await Deno.mkdir(`${data}/d/sub`, { recursive: true });
  await Deno.writeTextFile(`${data}/d/ten.txt`, "0123456789");
  await Deno.writeTextFile(`${data}/d/sub/x.dat`, "x");
  // The service gives no parts of files that have just been written.
  for (const name of ["ten.txt", "sub/x.dat"]) await Deno.utime(`${data}/d/${name}`, LONG_AGO, LONG_AGO);
  const site = await createSite({
    files,
    authority,
    servers: {
      HPC: [{
        users: {
          alice: { uid: 1000, home: data, groups: ["users", "hpc"] },
          nobody: { uid: 65534, home: "", groups },
        },
        maxSessions: 10_000,
        timeZone: "UTC",
        ...daemon,
      }],
    },
    passwords: PASSWORDS + passwordLine(BOB, BOB_DN) + passwords,
    map: JSON.stringify({ ...MAP, [BOB_DN]: { role: "user" }, [ALICE_DN]: MAP[ALICE_DN], ...map }),
    properties: {
      "share.servers": "HPC",
      "share.allowWriteAccess": "true",
      "persistence.directory": "{folder}/data",
      ...properties,
    },
  });
  return {
    ...site,
    data,
    async [Symbol.asyncDispose]() {
      await site[Symbol.asyncDispose]();
      await Deno.remove(data, { recursive: true });
    },
  };
}

/** Service with data sharing, over HTTPS. */
export class SharingSystem implements AsyncDisposable {
  private constructor(
    readonly system: SystemUnderTest,
    readonly data: string,
    /** Text of the main file at the start. */
    private readonly main: string,
  ) {}

  static async open(setting: SharingSetting = {}): Promise<SharingSystem> {
    const site = await createSharingSite(setting);
    try {
      return new SharingSystem(await runAt(site), site.data, await Deno.readTextFile(site.main));
    } catch (error) {
      await site[Symbol.asyncDispose]();
      throw error;
    }
  }

  get origin(): string {
    return `https://localhost:${this.system.port}`;
  }

  /** Adds lines to those of the start, in place of those of an earlier call, and reloads the configuration. */
  async reloadWith(properties: Readonly<Record<string, string>>): Promise<void> {
    await this.system.replace("conf/container.properties", withProperties(this.main, properties));
    const io = recordedIo();
    if (await runCommand(["reload", "--config", this.system.main], io) !== 0) throw new Error(io.err);
  }

  /** Makes a share of Alice's, as clients do. @returns Its id. */
  async share(path: string, fields: Readonly<Record<string, unknown>> = {}): Promise<string> {
    const body = { path: `${this.data}/${path}`, user: EVERYBODY, access: "READ", ...fields };
    const reply = await this.system.ask("/rest/share/HPC", { as: ALICE, body });
    assert.equal(reply.status, 201, reply.text);
    const location = reply.headers.location ?? "";
    return location.slice(location.lastIndexOf("/") + 1);
  }

  /**
   * Like {@link share}, with a password and a cheap hash: the service's own hash takes a third of a second.
   */
  async locked(
    path: string,
    password: string,
    fields: Readonly<Record<string, unknown>> = {},
  ): Promise<string> {
    const id = await this.share(path, fields);
    const hash = formatScrypt(await hashWithScrypt(password, { ln: 10, r: 8, p: 1 }));
    using database = new DatabaseSync(`${this.system.folder}/data/shares.sqlite`);
    const { changes } = database.prepare("UPDATE share SET password = ? WHERE id = ?").run(hash, id);
    assert.equal(changes, 1);
    return id;
  }

  /** Begins a request below `/rest/access/HPC/`. */
  begin(path: string, { as, ...options }: Ask = {}): ClientRequest {
    return request(`${this.origin}/rest/access/HPC/${path}`, {
      ca: this.system.authority.certificate,
      agent: false,
      ...(as && { auth: as.join(":") }),
      ...options,
    });
  }

  /** Sends a request without body and waits for the head of the answer. */
  async open(path: string, ask: Ask = {}): Promise<IncomingMessage> {
    return await answerTo(this.begin(path, ask).end());
  }

  /** Sends a request without body and returns the complete answer; by default over a kept-alive connection. */
  async fetch(path: string, ask: Ask = {}) {
    const response = await this.open(path, { agent: this.system.agent, ...ask });
    const { statusCode: status, headers } = response;
    return { status, headers, text: await textOf(response) };
  }

  /** Waits until no session with the daemon is open. */
  async sessionsClosed(): Promise<void> {
    const what = "connections to the daemon are closed"; // the service keeps some for five seconds
    await until(() => this.system.daemon().openConnections === 0, { what });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.system[Symbol.asyncDispose]();
  }
}

/** Waits for the head of the answer to a request, and returns it. */
export async function answerTo(outgoing: ClientRequest): Promise<IncomingMessage> {
  const [response]: IncomingMessage[] = await once(outgoing, "response");
  if (response === undefined) throw new TypeError("no answer");
  outgoing.on("error", () => {}); // the rest of the request may fail after the answer
  return response;
}

/** Returns the body of an answer. @throws If the body ends early. */
export async function textOf(response: IncomingMessage): Promise<string> {
  response.setEncoding("utf8");
  let text = "";
  for await (const part of response) text += part;
  return text;
}
