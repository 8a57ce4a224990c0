import { SILENT } from "../../../src/logging/logger.ts";
import { Sink } from "../../../src/logging/sink.ts";
import { HeaderList } from "../../../src/model/http_message.ts";
import { HttpError } from "../../../src/model/http_error.ts";
import type { Identity } from "../../../src/model/identity.ts";
import type { TokenRestrictions } from "../../../src/model/token_restrictions.ts";
import type { DavParts } from "../../../src/resource/dav/dav_call.ts";
import { UnfinishedUploads } from "../../../src/resource/access/drop/unfinished_uploads.ts";
import { DavLocks } from "../../../src/resource/dav/dav_locks.ts";
import { UnreadAnswers } from "../../../src/resource/long_text.ts";
import { requestedServer } from "../../../src/resource/server_facts.ts";
import { PathLocks } from "../../../src/resource/share/path_locks.ts";
import { Acceptance } from "../../../src/service/http/acceptance.ts";
import { davRoutes } from "../../../src/service/http/dav_routes.ts";
import { asServiceError, errorResponse } from "../../../src/service/http/error_response.ts";
import { Router } from "../../../src/service/http/router.ts";
import { webResponse } from "../../../src/service/mount.ts";
import { openShareStore, type ShareStore } from "../../../src/sharing/store/share_store.ts";
import type { RecordStore } from "../../../src/store/record_store.ts";
import { openRecordStore } from "../../../src/store/sqlite_record_store.ts";
import { Site } from "../../sharing/site.ts";
import { call, server, serversOf, USER } from "../sample_call.ts";

/** Options of a request; the default is alice with all rights. */
export interface Question {
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array<ArrayBuffer>>;
  /** Name in the login; several names may have the same account. */
  readonly as?: string;
  readonly uid?: string;
  readonly restrictions?: TokenRestrictions;
  readonly capabilities?: Identity["capabilities"];
  readonly limits?: Readonly<Record<string, string>>;
}

/** WebDAV over a simulated daemon and a real folder, which is alice's home and carol's project. */
export class DavSite implements AsyncDisposable {
  readonly #folder = Deno.makeTempDirSync();
  readonly #records: RecordStore;
  readonly #store: ShareStore;
  readonly time = { ahead: 0 };
  parts: DavParts;
  /** Ends running requests, as a ban does. */
  ban = (_reason: unknown) => {};
  /** Number of requests that a ban would end now. */
  watched = 0;

  private constructor(readonly site: Site) {
    const clock = () => Date.now() + this.time.ahead;
    this.#records = openRecordStore(`${this.#folder}/records.sqlite`, clock);
    this.#store = openShareStore(`${this.#folder}/shares.sqlite`, clock);
    this.parts = {
      servers: serversOf(
        { ...server("HPC", { up: true }), daemons: site.group },
        server("OTHER", { up: true }),
      ),
      sessions: new Map([["HPC", site.sessions]]),
      locks: new DavLocks(() => this.#records, clock),
      uploads: { locks: new PathLocks(), unfinished: new UnfinishedUploads(this.#store.uploads) },
      uses: new Sink("share-uses", SILENT),
      unread: new UnreadAnswers(),
      watch: (_call, end) => {
        this.ban = end;
        this.watched++;
        return () => this.watched--;
      },
      clock,
    };
  }

  /** Stops renewing leases, so that other processes consider this one dead. */
  renewNothing(): void {
    const { locks, unfinished: { store } } = this.parts.uploads;
    this.parts = {
      ...this.parts,
      uploads: { locks, unfinished: new UnfinishedUploads(store, () => () => {}) },
    };
  }

  /** Returns the sorted names in a directory below the folder. */
  names(directory: string): string[] {
    return [...Deno.readDirSync(`${this.root}/${directory}`)].map(({ name }) => name).sort();
  }

  static async open(): Promise<DavSite> {
    return new DavSite(await Site.open({ maxSessions: 1_000_000 }, {}, { holdMs: 0 }));
  }

  get root(): string {
    return this.site.root;
  }

  /** Sends a request. @param path Path relative to the folder, unless it begins with `/dav`. */
  async ask(method: string, path: string, question: Question = {}): Promise<Response> {
    const { headers = {}, body, as = "alice", uid = "alice", restrictions, capabilities, limits = {} } =
      question;
    const full = path.startsWith("/dav") ? path : `/dav/HPC${this.root}/${path}`;
    const bytes = typeof body === "string" ? new TextEncoder().encode(body) : body;
    const length: Record<string, string> = bytes instanceof Uint8Array
      ? { "Content-Length": `${bytes.length}` }
      : {};
    const request = {
      method,
      path: full,
      query: "",
      headers: HeaderList.of({ Host: "h", ...length, ...headers }),
      client: { address: "127.0.0.1" },
      body: bytes ?? null,
    };
    try {
      const { route, params } = new Router(davRoutes(this.parts)).match(method, full);
      const segment = params.get("server");
      return webResponse(
        await route.answer({
          ...call(),
          request,
          params,
          server: segment === undefined ? undefined : requestedServer(segment, this.parts.servers),
          clientAddress: "127.0.0.1",
          log: SILENT,
          caller: {
            kind: "authenticated",
            identity: {
              dn: `CN=${as}`,
              method: "PASSWORD_FILE",
              via: "PASSWORD",
              capabilities,
              issuedToken: restrictions && { issuer: "CN=auth", renewable: true, restrictions },
            },
          },
          user: {
            ...USER,
            uid,
            group: "hpc",
            extra: new Map(Object.entries(limits).map(([name, value]) => [`uftpd.HPC.${name}`, [value]])),
          },
        }),
      );
    } catch (error) {
      if (!(error instanceof HttpError)) throw error;
      return webResponse(await errorResponse(asServiceError(error), "r1", new Acceptance(null)));
    }
  }

  /** Returns status and code, or text, of an answer. */
  async told(method: string, path: string, question: Question = {}): Promise<string> {
    const response = await this.ask(method, path, question);
    const text = await response.text();
    const isError = response.headers.get("Content-Type") === "application/json";
    return `${response.status} ${isError ? JSON.parse(text).code : text}`.trim();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.site[Symbol.asyncDispose]();
    this.#records.close();
    this.#store.close();
    await Deno.remove(this.#folder, { recursive: true });
  }
}

/** Returns a `lockinfo` body. */
export function lockinfo(scope = "exclusive"): string {
  return `<lockinfo xmlns="DAV:"><lockscope><${scope}/></lockscope><locktype><write/></locktype><owner>me</owner></lockinfo>`;
}
