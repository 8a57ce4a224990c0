import type { AuditRecord } from "../logging/audit_record.ts";
import type { Logger } from "../logging/logger.ts";
import type { Increments } from "../metrics/counters.ts";
import type { Clock } from "../model/clock.ts";
import type { Credentials } from "../model/credentials.ts";
import { HeaderList, type HttpRequest, type HttpResponse } from "../model/http_message.ts";
import type { ErrorCode } from "../model/errors.ts";
import { HttpError, httpError } from "../model/http_error.ts";
import { assemble, type ServiceParts } from "./assembly/assemble.ts";
import type { Publish, ServiceOptions } from "./assembly/service_options.ts";
import {
  checkHeaderLengths,
  checkNotCrossSite,
  checkOwnOrigin,
  checkQuery,
  originOf,
} from "./http/request_checks.ts";
import { asServiceError, errorResponse } from "./http/error_response.ts";
import { Acceptance } from "./http/acceptance.ts";
import { signInCookie } from "../authentication/sign_in/sign_ins.ts";
import { KINDS, type ServiceKinds } from "./kinds.ts";
import { type Answered, RequestObserver } from "./request_observer.ts";
import { FILES_TYPE, FORM_TYPE, isHealth, type Route, Router } from "./http/router.ts";
import { browserUser, identify, PREFERENCES_HEADER, recognise, type Trace, userLater } from "./identify.ts";
import type { Call, PartialCall } from "../resource/call.ts";
import { requestedServer } from "../resource/server_facts.ts";
import { accountsOf } from "../attributes/server_attributes.ts";

/** Service as a function, independent of the listener. */
export interface Service
  extends Pick<ServiceParts, "admin" | "adopt" | "renewTls" | "drain" | "retire" | "close"> {
  /** Answers a request; never rejects. */
  answer(request: HttpRequest, signal: AbortSignal): Promise<HttpResponse>;
  counted(): Increments; // returns and resets the counts
  /** Sets whether audit lines cannot be written; see `container.audit.required`. */
  setAuditFailing(fails: boolean): void;
  leave(): Promise<void>; // announces to other instances that the whole service ends, not only this core
}

/** Creates the service. @throws If a configured file is invalid, with a message for the operator. */
export async function createService(
  options: ServiceOptions,
  { log, audit = () => {}, clock = Date.now, kinds = KINDS, publish }: {
    readonly log: Logger;
    readonly audit?: (record: AuditRecord) => void;
    readonly publish?: Publish;
    readonly clock?: Clock;
    readonly kinds?: ServiceKinds;
  },
): Promise<Service> {
  const observer = new RequestObserver(options.config.servers.map(({ name }) => name), audit);
  const parts = await assemble(options, { log, clock, observer, kinds, publish });
  const requests = new Requests(parts, observer, log);
  const { admin, adopt, renewTls, drain, retire, close, cluster } = parts;
  return {
    ...{ admin, adopt, renewTls, drain, retire, close },
    answer: (request, signal) => requests.answer(request, signal),
    counted: () => observer.take(),
    setAuditFailing: (fails) => requests.auditFailing = fails,
    leave: async () => await cluster?.leave(),
  };
}

interface Handling extends Trace {
  readonly requestId: string;
  readonly log: Logger;
  readonly signal: AbortSignal;
  accepted: Acceptance;
  call: PartialCall;
}

class Requests {
  readonly #router: Router;
  #baseReported = false; // each client of a gateway can cause it
  auditFailing = false; // read before credentials are checked: guesses need audit lines, too

  constructor(readonly parts: ServiceParts, readonly observer: RequestObserver, readonly log: Logger) {
    this.#router = new Router(parts.routes);
  }

  async answer(request: HttpRequest, signal: AbortSignal): Promise<HttpResponse> {
    const began = performance.now();
    const requestId = crypto.randomUUID();
    const log = this.log.child({ request: requestId });
    const { method, client: { address: client } } = request;
    const query = new URLSearchParams(request.query);
    const { externalUrl: base } = this.parts;
    const { menu } = this.#router;
    const call = { request, query, base, root: pathToRoot(request.path), menu, requestId };
    const handling: Handling = { requestId, log, signal, accepted: ANY_TYPE, client, facts: {}, call };
    let response: HttpResponse;
    let failure: HttpError | undefined;
    try {
      checkHeaderLengths(request.headers);
      handling.accepted = Acceptance.of(request.headers.get("Accept"));
      response = await this.#route(request, handling);
    } catch (error) {
      failure = asServiceError(error);
      response = await this.#refuse(failure, handling);
    }
    response.headers.set("X-Request-Id", requestId);
    const ms = Math.round((performance.now() - began) * 10) / 10;
    const answer = { request: requestId, method, status: response.status, failure, ms };
    record(handling, answer);
    this.observer.answered(handling, answer);
    return response;
  }

  async #refuse(failure: HttpError, handling: Handling): Promise<HttpResponse> {
    const { route, call, accepted, dn, claimed, requestId } = handling;
    const page = accepted.prefersHtml && await route?.failed?.(failure, { userName: claimed, ...call });
    const response = page
      ? withHeadersOf(failure, page)
      : await errorResponse(failure, requestId, accepted, call);
    if (dn === undefined && claimed !== undefined) {
      handling.facts = { ...handling.facts, user: this.parts.admin.parts.shown(claimed) };
    }
    if (response.status === 401 && !response.headers.has("WWW-Authenticate")) {
      response.headers.set("WWW-Authenticate", this.parts.challenge); // RFC 9110, 15.5.2
    }
    // Another challenge would open a password dialog in a browser whose sign-in ended.
    if (response.status === 401 && isBrowser(call)) response.headers.set("WWW-Authenticate", "Bearer");
    return response;
  }

  async #route(request: HttpRequest, handling: Handling): Promise<HttpResponse> {
    const { config, externalUrl, servers, throttle } = this.parts;
    const { log, signal, accepted } = handling;
    const { method, headers, client: { certificate, unusableCertificate, untrustedCertificate } } = request;
    const path = withoutSite(request.path, config.site.name);
    const { clientAddress, base, consignor, unusableBase } = originOf(request, config.gateway, externalUrl);
    if (unusableBase !== undefined && !this.#baseReported) {
      const facts = { found: unusableBase, used: base };
      log.warn("X-UNICORE-Gateway is not an https:// address: container.externalurl applies", facts);
      this.#baseReported = true;
    }
    handling.client = clientAddress;
    if (!isHealth(path)) this.parts.throttle.admitAddress(clientAddress);
    if (method === "OPTIONS") return this.#options(path);
    const root = config.site.externalUrlGiven || base !== externalUrl ? `${base}/` : pathToRoot(path);
    const partial = handling.call = { ...handling.call, base, root };
    const facts = { clientAddress, certificate, unusableCertificate, untrustedCertificate, consignor };
    const given = { method, headers, facts, base, url: base + path, trace: handling, log, signal };
    const { route, params } = await this.#match(path, given, handling);
    handling.route = route;
    const isForPrograms = route.audit === "token" || (route.service === "open" && method === "POST");
    if (isOfPage(route)) checkOwnOrigin(headers, base); // first: pages of other errors may set cookies
    else if (isForPrograms) checkNotCrossSite(headers);
    if (this.auditFailing && config.audit.required && route.audit) throw httpError("ERR_AUDIT_UNAVAILABLE");
    const segment = params.get("server");
    const server = segment === undefined ? undefined : requestedServer(segment, servers);
    if (server !== undefined) handling.facts = { server: server.name };
    negotiate(headers, route, accepted);

    const identified = await identify(given, route, this.parts);
    const { caller, user } = identified;
    const call: Call = {
      ...partial,
      ...identified,
      recognise: this.#recogniser(facts, given),
      admit: (address, uid) =>
        caller.kind === "authenticated" &&
        throttle.admitCaller(caller.identity, address, accountsOf(user).concat(uid ?? [])),
      userNow: userLater(identified, given, this.parts),
      params,
      server,
      preferences: headers.get(PREFERENCES_HEADER) ?? undefined,
      clientAddress,
      audit: (facts) => Object.assign(handling.facts, facts),
      log,
      signal,
    };
    handling.call = call;
    checkQuery(call.query, route.query);
    const { answer, page } = route;
    const wantsPage = page !== undefined && accepted.prefersHtml;
    const response = await (wantsPage ? page : answer)(call);
    if (page !== undefined && !wantsPage) response.headers.append("Vary", "Accept");
    if (method === "HEAD" && response.body instanceof ReadableStream) await response.body.cancel();
    return method === "HEAD" ? { ...response, body: null } : response;
  }

  /** Returns the route of a path. If there is none, the browser's error page shows who is signed in. */
  async #match(path: string, given: Parameters<typeof browserUser>[0], handling: Handling) {
    try {
      return this.#router.match(given.method, path);
    } catch (error) {
      const reader = handling.accepted.prefersHtml && await browserUser(given, this.parts);
      handling.call = { ...handling.call, ...reader };
      throw error;
    }
  }

  #recogniser(
    facts: Omit<Credentials, "authorization">,
    given: Parameters<typeof recognise>[1],
  ): Call["recognise"] {
    return (authorization, by) => {
      const shown = authorization.kind === "none" ? facts : { clientAddress: facts.clientAddress };
      const { chain } = this.parts;
      const authenticators = chain.authenticators.filter(({ name }) => name === (by ?? name));
      const parts = { ...this.parts, chain: { ...chain, authenticators } };
      return recognise({ ...shown, authorization }, given, parts);
    };
  }

  /** RFC 9110, 9.3.7. */
  #options(path: string): HttpResponse {
    const allowed = this.#router.allowed(path);
    const headers = HeaderList.of({ Allow: allowed.join(", ") });
    if (allowed.includes("PROPFIND")) headers.set("DAV", "1, 2"); // RFC 4918, 10.1
    return { status: 204, headers, body: null };
  }
}

/** Reports whether a request comes from a browser that is or was signed in. */
function isBrowser({ request: { headers }, base }: PartialCall): boolean {
  return signInCookie(base).valueIn(headers.get("Cookie")) !== undefined && !headers.has("Authorization");
}

/** Reports whether only pages of this service may send requests of a route: forms, and changes by signed-in browsers. */
function isOfPage({ consumes, signedIn, method }: Route): boolean {
  return consumes === FORM_TYPE || consumes === FILES_TYPE || (signedIn === true && method !== "GET");
}

/** Strips the site's name, which some gateways leave in the path. */
function withoutSite(path: string, siteName: string): string {
  const prefix = path.slice(0, siteName.length + 2).toLowerCase();
  return prefix === `/${siteName.toLowerCase()}/` ? path.slice(siteName.length + 1) : path;
}

function pathToRoot(path: string): string {
  return "../".repeat(path.split("/").length - 2) || "./";
}

const ANY_TYPE = Acceptance.of(null);

/** @throws {ERR_UNSUPPORTED_CODING | ERR_UNSUPPORTED_MEDIA_TYPE | ERR_NOT_ACCEPTABLE} */
function negotiate(headers: HeaderList, route: Route, accepted: Acceptance): void {
  // The service would store an encoded body as it is, not the file that the client means.
  const coding = headers.get("Content-Encoding");
  if (coding !== null && !/^[ \t]*(?:identity[ \t]*)?$/i.test(coding)) {
    throw httpError("ERR_UNSUPPORTED_CODING");
  }
  if (
    route.consumes !== undefined &&
    headers.get("Content-Type")?.split(";")[0]?.trim().toLowerCase() !== route.consumes
  ) {
    throw httpError("ERR_UNSUPPORTED_MEDIA_TYPE", { expected: route.consumes });
  }
  if (route.produces !== undefined && !route.produces.some((offer) => accepted.admits(offer))) {
    throw httpError("ERR_NOT_ACCEPTABLE", { offered: route.produces.join(", ") });
  }
}

/** Copies the error's headers, such as `Retry-After`, to its page. */
function withHeadersOf({ headers }: HttpError, page: HttpResponse): HttpResponse {
  if (page.status < 400) return page;
  for (const [name, value] of Object.entries(headers)) {
    // The challenge would open the browser's own dialog.
    if (name !== "WWW-Authenticate") page.headers.set(name, value);
  }
  return page;
}

/** Errors of disks and databases that the operator must repair. */
const NOT_WRITTEN = new Set<ErrorCode>(["ERR_AUDIT_UNAVAILABLE", "ERR_RECORD_STORE", "ERR_SHARE_STORE"]);

/** Writes the log line, and for decisions the audit line. */
function record(
  { route, client, dn, via, facts, log }: Handling,
  { method, status, failure, ms }: Answered,
): void {
  const mustAct = status === 500 || (failure !== undefined && NOT_WRITTEN.has(failure.code));
  const level = mustAct ? "error" : status > 500 ? "warn" : "info";
  const fields = { method, route: route?.path, status, ms, client, dn, user: facts.user, error: failure };
  log[level]("request answered", fields);
  if (route?.audit === undefined) return;
  log.info(`audit ${route.audit}`, {
    decision: failure === undefined ? "granted" : "refused",
    dn,
    method: via,
    client,
    ...facts,
    reason: failure?.code,
  });
}
