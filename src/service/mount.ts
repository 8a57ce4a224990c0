/**
 * The service as part of another server: a function from `Request` to `Response`. The host listens and speaks TLS; it runs
 * the service in its own process and with its own permissions.
 */
import type { ServiceConfig } from "../config/service_config.ts";
import { createLogger, type LineSink } from "../logging/logger.ts";
import { peerAddress } from "../model/address.ts";
import { addCommonHeaders, PLAIN_POLICY, type ResponsePolicy } from "../model/response_headers.ts";
import { HeaderList, type HttpResponse, type Peer, readTarget } from "../model/http_message.ts";
import { httpError, invalidRequest } from "../model/http_error.ts";
import { trimEndCharacters } from "../model/text.ts";
import { formatDiagnostic, InvalidFile, isError } from "../model/diagnostic.ts";
import { hasNoDefaultTrust } from "../outgoing/exclusive_trust.ts";
import { Acceptance } from "./http/acceptance.ts";
import { errorResponse } from "./http/error_response.ts";
import { loadSnapshot } from "./assembly/load_snapshot.ts";
import { configuredKinds, KINDS } from "./kinds.ts";
import { createService, type Service } from "./service.ts";

export interface MountOptions {
  /**
   * Property file: `container.properties`, or the host's `uas.config`. Unknown keys are the host's; those of listener and
   * log file have no effect. `container.externalurl` is the host's address.
   */
  readonly configuration: string;
  /** Base of relative paths; default: that of the process. */
  readonly workingDirectory?: string;
  /** Path of the host below which the service answers, such as `/uftp`; default: all of it. */
  readonly path?: string;
  /** Receives log lines without line end; default: the console. */
  readonly log?: LineSink;
}

export interface MountedService {
  /** Answers a request; never rejects. @param request With the host's path. @param peer Remote end: daemons expect the client from this address. */
  readonly handle: (request: Request, peer: Peer) => Promise<Response>;
  /** Configuration warnings, one line each. */
  readonly warnings: readonly string[];
  /** Waits for running calls to daemons, then releases everything. */
  readonly close: () => Promise<void>;
}

/** Starts the service inside a host. @throws {InvalidFile} With all configuration errors. @throws {TypeError} If `path` is invalid. */
export async function mountService(
  { configuration, workingDirectory, path = "", log: sink = (line) => console.log(line) }: MountOptions,
): Promise<MountedService> {
  const prefix = trimEndCharacters(path, "/");
  if (!/^(?:\/[A-Za-z0-9._~-]+)*$/.test(prefix)) throw new TypeError("path: expected a path such as /uftp");
  const { snapshot, diagnostics } = await loadSnapshot(configuration, {
    environment: (name) => Deno.env.get(name),
    unknownKeys: "warning",
    workingDirectory,
  });
  if (snapshot === undefined) throw new InvalidFile(diagnostics.filter(isError));
  await requireExclusiveTrust(configuration, snapshot.config);
  const { site, sharing } = snapshot.config;
  if (sharing.directory !== undefined) await Deno.mkdir(sharing.directory, { recursive: true, mode: 0o700 });
  const log = createLogger(sink, { threshold: snapshot.config.logging.level });
  const service = await createService({
    ...snapshot,
    config: { ...snapshot.config, site: { ...site, externalUrl: site.externalUrl + prefix } },
    generation: 1,
    upSince: Date.now(),
    port: site.port,
  }, { log });
  return {
    handle: (request, peer) => answerWeb(service, request, peer, { prefix, policy: snapshot.config.https }),
    warnings: diagnostics.map(formatDiagnostic),
    close: () => service.close(),
  };
}

/**
 * Checks that calls to other systems trust only configured authorities. The TLS client adds the truststore to those of
 * the process, so the host must start without any, or the configuration must permit public ones. @throws {InvalidFile}
 */
async function requireExclusiveTrust(file: string, config: ServiceConfig): Promise<void> {
  if (config.outgoing.publicRoots || !await asksOthers(config) || hasNoDefaultTrust(Deno.env)) return;
  const expected =
    "expected the host to be started with DENO_TLS_CA_STORE=system and SSL_CERT_FILE=/dev/null, and " +
    "without SSL_CERT_DIR, DENO_CERT and NODE_EXTRA_CA_CERTS, or true: public authorities would be trusted besides " +
    "the truststore";
  throw new InvalidFile([{ severity: "error", file, key: "container.client.publicRoots", expected }]);
}

async function asksOthers(config: ServiceConfig): Promise<boolean> {
  return (await configuredKinds(config, KINDS)).some(({ config, kind }) =>
    (kind.remotes?.(config) ?? []).length > 0
  );
}

/** Answers a web request. @param options.prefix Without trailing slash. @param options.policy Headers of all answers. */
export async function answerWeb(
  service: Pick<Service, "answer">,
  request: Request,
  peer: Peer,
  { prefix = "", policy = PLAIN_POLICY }: { readonly prefix?: string; readonly policy?: ResponsePolicy } = {},
): Promise<Response> {
  const { method, body, signal } = request;
  const { pathname, search } = new URL(request.url);
  // Relative links of the page need the trailing slash.
  if (pathname === prefix) return new Response(null, { status: 308, headers: { Location: `${prefix}/` } });
  const headers = new HeaderList([...request.headers].flat());
  const client = { ...peer, address: peerAddress(peer.address) };
  const inside = pathname.startsWith(`${prefix}/`);
  const target = inside ? readTarget(pathname.slice(prefix.length) + search) : undefined;
  const refusal = () =>
    inside
      ? invalidRequest("The path is not in its normal form")
      : httpError("ERR_NOT_FOUND", { what: "This address" });
  const answer = target !== undefined
    ? await service.answer({ method, ...target, headers, client, body }, signal)
    : await errorResponse(refusal(), crypto.randomUUID(), new Acceptance(headers.get("Accept")));
  addCommonHeaders(answer.headers, { method, headers }, policy);
  return webResponse(answer);
}

/** Converts a response for the web. */
export function webResponse({ status, headers: { fields }, body }: HttpResponse): Response {
  const headers = new Headers();
  for (let i = 0; i + 1 < fields.length; i += 2) headers.append(fields[i] ?? "", fields[i + 1] ?? "");
  return new Response(body === "" ? null : body, { status, headers });
}
