import { ScryptSemaphore } from "../../src/authentication/password/stored_hash.ts";
import type { UserAttributes } from "../../src/attributes/user_attributes.ts";
import { type Logger, SILENT } from "../../src/logging/logger.ts";
import { Sink } from "../../src/logging/sink.ts";
import { HeaderList, type HttpRequest } from "../../src/model/http_message.ts";
import type { Caller } from "../../src/model/identity.ts";
import { HttpError, httpError } from "../../src/model/http_error.ts";
import type { Secret } from "../../src/model/secret.ts";
import type { TokenRestrictions } from "../../src/model/token_restrictions.ts";
import type { Call } from "../../src/resource/call.ts";
import { dropForm } from "../../src/resource/access/drop/drop_upload.ts";
import { UnfinishedUploads } from "../../src/resource/access/drop/unfinished_uploads.ts";
import { PathLocks } from "../../src/resource/share/path_locks.ts";
import type { SharingParts } from "../../src/resource/share/sharing_parts.ts";
import { RunningUses } from "../../src/resource/access/running_uses.ts";
import { UnreadAnswers } from "../../src/resource/long_text.ts";
import { webResponse } from "../../src/service/mount.ts";
import { requestedServer } from "../../src/resource/server_facts.ts";
import { Acceptance } from "../../src/service/http/acceptance.ts";
import { asServiceError, errorResponse } from "../../src/service/http/error_response.ts";
import { openApiDocument } from "../../src/service/http/openapi.ts";
import { type Route, Router } from "../../src/service/http/router.ts";
import { shareRoutes } from "../../src/service/http/share_routes.ts";
import type { PathLimits } from "../../src/files/path_limits.ts";
import { openShareStore } from "../../src/sharing/store/share_store.ts";
import type { RecordStore } from "../../src/store/record_store.ts";
import { IN_MEMORY } from "../../src/store/sqlite_database.ts";
import { openRecordStore } from "../../src/store/sqlite_record_store.ts";
import type { DaemonOptions } from "../daemon_simulator/daemon.ts";
import { ApiDescription } from "../openapi/api_description.ts";
import { Site } from "../sharing/site.ts";

/**
 * Caller: a user of the tests by name, or an anonymous caller. Alice's home is the shared folder. Carol and
 * Dave have accounts with homes elsewhere, Bob has no account.
 */
export type Who = "alice" | "bob" | "carol" | "dave" | "anonymous";

export const BASE = "https://auth.example.org:9000";

/** Short timeouts for silent data connections and clients; replies get their time, on a busy machine too. */
const SILENCE = { dataIdleMs: 3_000, clientIdleMs: 3_000 };

/** Share and access resources over a simulated daemon and a real folder, called as the service calls them. */
export class SharingSite implements AsyncDisposable {
  /** Present path limits of the owners. */
  limits: PathLimits = {};
  /** User who has the {@link attributes}. */
  attributed: Who = "alice";
  /** Attributes of one user on the server, beyond the account. */
  attributes: PathLimits & { readonly rateLimit?: string; readonly xlogin?: string } = {};
  /** Unix groups of users who have an account. */
  groups: Partial<Record<Who, readonly string[]>> = {};
  /** Restrictions of the token that each caller shows; absent: callers show other credentials. */
  restrictions: TokenRestrictions | undefined;
  /** How each caller signed in with a browser; absent: as a program. */
  signIn: Call["signIn"];
  /** Facts in the audit line of the last request besides user, action and time. */
  audited: Record<string, unknown> = {};
  readonly time = { ahead: 0 };
  /** Password of a link that callers show. */
  linkPassword: Secret | undefined;
  log: Logger = SILENT;
  parts: SharingParts;
  readonly records: RecordStore;
  /** The same for all sites. */
  static #description: ApiDescription | undefined;

  private constructor(readonly site: Site) {
    const clock = () => Date.now() + this.time.ahead;
    this.records = openRecordStore(IN_MEMORY, clock);
    const store = openShareStore(IN_MEMORY, clock);
    this.parts = {
      servers: new Map([["HPC", {
        name: "HPC",
        description: "Main cluster",
        daemons: site.group,
        sharing: true,
        reservations: {
          limitFor: (uid) => uid === undefined ? 1000 : 0,
          descriptionsFor: () => [],
          list: () => [],
        },
      }]]),
      sessions: new Map([["HPC", site.sessions]]),
      store,
      allowWriteAccess: true,
      maxLifetimeSeconds: 0,
      maxPerUser: 0,
      owners: {
        mapped: () => Promise.resolve({ mappedGroup: true, mappedRole: true }),
        limits: ({ made }) => Promise.resolve([this.limits, ...(made === undefined ? [] : [made.limits])]),
      },
      uploads: { locks: new PathLocks(), unfinished: new UnfinishedUploads(store.uploads) },
      guess: (_who, look) => look(),
      hashing: new ScryptSemaphore(),
      watch: () => () => {},
      running: new RunningUses(store, clock),
      unread: new UnreadAnswers(),
      uses: new Sink("share-uses", SILENT),
      mails: false,
      unauthenticated: (reason) =>
        httpError("ERR_UNAUTHENTICATED", { challenge: "Bearer", accepted: "x", reason }),
      clock,
    };
    SharingSite.#description ??= new ApiDescription(openApiDocument(this.#routes(), BASE));
  }

  static async open(options: DaemonOptions = {}, silence = SILENCE): Promise<SharingSite> {
    // Ended sessions do not count here: otherwise tests with many sessions would wait.
    return new SharingSite(
      await Site.open({ maxSessions: 1_000_000, ...options }, silence, { holdMs: 0 }),
    );
  }

  get root(): string {
    return this.site.root;
  }

  /** Sends a request to a path below `/rest/` and answers errors as the service does. */
  async ask(
    who: Who,
    method: string,
    path: string,
    { body, headers, signal, clientAddress = "127.0.0.1" }: {
      readonly body?: unknown;
      readonly headers?: Record<string, string>;
      readonly signal?: AbortSignal;
      readonly clientAddress?: string;
    } = {},
  ): Promise<Response> {
    const response = await this.#answer(who, method, path, { body, headers, signal, clientAddress });
    const json = response.headers.get("Content-Type") === "application/json";
    SharingSite.#description?.check({
      method,
      path: `/rest/${path.split("?")[0]}`,
      status: response.status,
      header: (name) => response.headers.get(name) ?? undefined,
      ...(json && { text: await response.clone().text() }),
    });
    return response;
  }

  async #answer(
    who: Who,
    method: string,
    path: string,
    { body, headers, signal, clientAddress }: {
      readonly body: unknown;
      readonly headers: Record<string, string> | undefined;
      readonly signal: AbortSignal | undefined;
      readonly clientAddress: string;
    },
  ): Promise<Response> {
    this.audited = {};
    const payload = body instanceof ReadableStream || typeof body === "string" ? body : JSON.stringify(body);
    const [at = "", query = ""] = path.split("?");
    const request: HttpRequest = {
      method,
      path: `/rest/${at}`,
      query,
      headers: HeaderList.of(headers ?? {}),
      client: { address: clientAddress },
      body: body === undefined ? null : new Response(payload).body,
    };
    try {
      const { route, params } = new Router(this.#routes()).match(method, request.path);
      return webResponse(
        await route.answer(this.#call(who, { request, params, signal })),
      );
    } catch (error) {
      if (!(error instanceof HttpError)) throw error;
      return webResponse(await errorResponse(asServiceError(error), "r1", new Acceptance(null)));
    }
  }

  /** Makes a share, by default of alice. @returns Its id. */
  async share(path: string, fields: Record<string, unknown> = {}, owner: Who = "alice"): Promise<string> {
    const body = { path: `${this.root}/${path}`, user: "CN=ANONYMOUS,O=UNKNOWN,OU=UNKNOWN", ...fields };
    const response = await this.ask(owner, "POST", "share/HPC", { body });
    const location = response.headers.get("Location");
    if (response.status !== 201 || location === null) {
      throw new Error(`share not made: ${response.status} ${await response.text()}`);
    }
    await response.body?.cancel();
    return location.slice(location.lastIndexOf("/") + 1);
  }

  /** Sends files by the form of a share's page. @returns Their names in the share. @throws {ServiceError} */
  async uploadForm(who: Who, id: string, form: FormData, query = ""): Promise<readonly string[]> {
    return await Array.fromAsync(this.uploading(who, id, form, query));
  }

  /** As {@link uploadForm}, one file after the other. */
  uploading(who: Who, id: string, form: FormData, query = ""): AsyncGenerator<string, void> {
    const { headers, body } = new Request(`${BASE}/drop/HPC/${id}`, { method: "POST", body: form });
    return this.#uploadForm(who, id, { headers: HeaderList.of(Object.fromEntries(headers)), body, query });
  }

  /** Sends a form of known length. @param length Announced. */
  uploadFormText(
    who: Who,
    id: string,
    body: string,
    type: string,
    length = body.length,
  ): Promise<readonly string[]> {
    const headers = HeaderList.of({ "Content-Type": type, "Content-Length": String(length) });
    return Array.fromAsync(this.#uploadForm(who, id, { headers, body: new Response(body).body, query: "" }));
  }

  #uploadForm(
    who: Who,
    id: string,
    sent: Pick<HttpRequest, "headers" | "body" | "query">,
  ): AsyncGenerator<string, void> {
    const path = `/drop/HPC/${id}`;
    const request: HttpRequest = { ...sent, method: "POST", path, client: { address: "127.0.0.1" } };
    const params = new Map([["server", "HPC"], ["id", id]]);
    return dropForm(this.#call(who, { request, params, signal: undefined }), this.parts);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.site[Symbol.asyncDispose]();
    this.parts.running.close();
    this.parts.store.close();
    this.records.close();
  }

  /** Makes new routes for each request, since tests replace the parts. */
  #routes(): Route[] {
    return shareRoutes(
      this.parts,
      { auth: true, share: true, access: true, files: false, admin: true },
      false,
    );
  }

  #call(
    who: Who,
    { request, params, signal }: {
      readonly request: HttpRequest;
      readonly params: ReadonlyMap<string, string>;
      readonly signal: AbortSignal | undefined;
    },
  ): Call {
    const caller: Caller = who === "anonymous" ? { kind: "anonymous" } : {
      kind: "authenticated",
      identity: {
        dn: `CN=${who}, O=Example`,
        method: "PASSWORD_FILE",
        via: "PASSWORD",
        ...(this.restrictions && {
          issuedToken: { issuer: "CN=auth", renewable: true, restrictions: this.restrictions },
        }),
      },
    };
    const server = params.get("server");
    return {
      request,
      params,
      query: new URLSearchParams(request.query),
      ...(server !== undefined && { server: requestedServer(server, this.parts.servers) }),
      caller,
      user: this.#user(who),
      ...(this.linkPassword && { linkPassword: this.linkPassword }),
      ...(this.signIn && { signIn: this.signIn }),
      clientAddress: request.client.address,
      base: BASE,
      root: "../../",
      menu: new Set(),
      admit: () => {},
      userNow: () => Promise.resolve(undefined),
      recognise: () => Promise.reject(new Error("nobody shows other credentials")),
      requestId: "r1",
      log: this.log,
      audit: (facts) => Object.assign(this.audited, facts),
      signal: signal ?? new AbortController().signal,
    };
  }

  #user(who: Who): UserAttributes {
    const known = who !== "bob" && who !== "anonymous";
    return {
      role: known ? "user" : "anonymous",
      availableRoles: [],
      ...(known && { uid: who, group: who === "alice" ? "users" : "hpc" }),
      availableUids: [],
      availableGroups: known ? this.groups[who] ?? ["users", "hpc"] : [],
      supplementaryGroups: [],
      extra: new Map(
        Object.entries(who === this.attributed ? this.attributes : {}).map((
          [suffix, value],
        ) => [`uftpd.HPC.${suffix}`, [value]]),
      ),
    };
  }
}
