import { Buffer } from "node:buffer";
import { createLink } from "../../attributes/registry.ts";
import { OAuth } from "../../authentication/oauth/oauth.ts";
import type {
  AttributeSourceConfig,
  LogicalServerConfig,
  MethodConfig,
} from "../../config/service_config.ts";
import { probeDaemon } from "../../daemon/probe_daemon.ts";
import type { Logger } from "../../logging/logger.ts";
import type { Clock } from "../../model/clock.ts";
import { Secret } from "../../model/secret.ts";
import { ServiceError } from "../../model/service_error.ts";
import type { Setup } from "../../service/assembly/load_setup.ts";
import { OutgoingClients } from "../../service/assembly/outgoing_clients.ts";
import { OwnCertificate } from "../../service/assembly/own_certificate.ts";

/** What came out of contacting one other system. */
export interface Finding {
  /** Such as `daemon HPC-2` or `method OAUTH`. */
  readonly system: string;
  readonly address: string;
  readonly ok: boolean;
  readonly found: string;
}

interface Parts {
  readonly own: OwnCertificate;
  readonly outgoing: OutgoingClients;
  readonly log: Logger;
  readonly now: Clock;
}

/** Name and token that nobody has. */
const NOBODY_DN = "CN=authserver check";
const NOBODYS_TOKEN = ['{"alg":"RS256"}', '{"sub":"authserver check"}', "no signature"]
  .map((part) => Buffer.from(part).toString("base64url")).join(".");

const DAY_MS = 86_400_000;

/**
 * Contacts every daemon, identity provider and XUUDB of a configuration once, as the service would, and without leaving
 * a trace: a ping, a request that shows no credentials of any user, a question about a user whom nobody knows.
 */
export async function checkOnline(
  { config, material }: Setup,
  { log, now }: { readonly log: Logger; readonly now: Clock },
): Promise<readonly Finding[]> {
  const own = new OwnCertificate(material);
  const outgoing = new OutgoingClients(config.outgoing, own, log);
  const parts = { own, outgoing, log, now };
  const { authentication, attributes, dynamicAttributes, outgoing: { showCertificate } } = config;
  try {
    return (await Promise.all([
      ...config.servers.flatMap((server) => checkDaemons(server, parts)),
      ...authentication.methods.map((method) => checkMethod(method, parts)),
      ...[...attributes.sources, ...dynamicAttributes.sources].map((source) =>
        checkSource(source, showCertificate, parts)
      ),
    ])).flat();
  } finally {
    outgoing.close();
  }
}

function checkDaemons(
  { name, instances }: LogicalServerConfig,
  { own, now }: Parts,
): Promise<readonly Finding[]>[] {
  return instances.map(async ({ expectedDn, ...instance }, i) => {
    const probe = await probeDaemon({ ...instance, ...(expectedDn !== undefined && { expectedDn }) }, {
      tls: () => own.daemonMaterial(name),
      clock: now,
    });
    const { commandHost, commandPort } = instance;
    const limit = probe.kind === "answered" && probe.sessionLimit !== undefined
      ? `, at most ${probe.sessionLimit} sessions per account`
      : "";
    return [{
      system: `daemon ${instances.length === 1 ? name : `${name}-${i + 1}`}`,
      address: `${commandHost}:${commandPort}`,
      ok: probe.kind === "answered",
      found: probe.kind === "answered" ? `UFTPD ${probe.version}${limit}` : probe.reason,
    }];
  });
}

async function checkMethod(config: MethodConfig, parts: Parts): Promise<readonly Finding[]> {
  if (!("address" in config)) return [];
  const { name, address, showCertificate } = config;
  const ask = config.kind === "OAuthAuthenticator" && config.introspection !== undefined
    ? async () => {
      const method = new OAuth(config, {
        http: parts.outgoing.client(showCertificate),
        clock: parts.now,
        log: parts.log,
      });
      const authorization = { kind: "bearer", token: new Secret(NOBODYS_TOKEN), route: "provider" } as const;
      const { kind } = await method.authenticate({ authorization, clientAddress: "" }, NEVER);
      method.close();
      return kind === "refused"
        ? good("knows this service, and refuses an unknown token")
        : bad(`an unknown token is ${kind}`);
    }
    : async () => {
      const { status } = await parts.outgoing.client(showCertificate).send(
        { method: "GET", url: address },
        NEVER,
      );
      const expected = config.kind === "OAuthAuthenticator"
        ? [400, 401, 403].includes(status)
        : status !== 404;
      const found = `answers a request without credentials with status ${status}`;
      return expected ? good(found) : bad(`${found}: wrong address, or out of order`);
    };
  return [await checkRemote({ system: `method ${name}`, address, showCertificate }, ask, parts)];
}

async function checkSource(
  config: AttributeSourceConfig,
  showCertificate: boolean,
  parts: Parts,
): Promise<readonly Finding[]> {
  if (config.kind === "AttributeSourcesChain") {
    const inner = await Promise.all(
      config.sources.map((source) => checkSource(source, showCertificate, parts)),
    );
    return inner.flat();
  }
  if (!("address" in config)) return [];
  const { name, address, gcid } = config;
  const ask = async () => {
    const { source } = await createLink(config, {
      log: parts.log,
      now: parts.now,
      outgoing: () => parts.outgoing.client(showCertificate),
    });
    const { standard } = await source.attributesOf({ dn: NOBODY_DN, method: "CHECK", via: "CHECK" }, NEVER);
    source.close();
    return standard.size === 0
      ? good(`answers for ${gcid}`)
      : bad(`knows a user ${NOBODY_DN}, whom there should not be`);
  };
  return [await checkRemote({ system: `attribute source ${name}`, address, showCertificate }, ask, parts)];
}

interface Answer {
  readonly ok: boolean;
  readonly found: string;
}

const good = (found: string): Answer => ({ ok: true, found });
const bad = (found: string): Answer => ({ ok: false, found });

const NEVER = new AbortController().signal;

/** Certificate first: what is wrong with it, the request would tell in fewer words. */
async function checkRemote(
  { system, address, showCertificate }: {
    readonly system: string;
    readonly address: string;
    readonly showCertificate: boolean;
  },
  ask: () => Promise<Answer>,
  { outgoing, now }: Parts,
): Promise<Finding> {
  try {
    const ends = await outgoing.probeCertificate(address, showCertificate);
    const days = Math.floor((ends - now()) / DAY_MS);
    const { ok, found } = await ask();
    const certificate = `certificate valid for ${days} ${days === 1 ? "day" : "days"}`;
    return { system, address, ok, found: `${certificate}; ${found}` };
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    return { system, address, ok: false, found: messages(error).join(": ") };
  }
}

/** What an error and its causes say. */
function messages(error: unknown): readonly string[] {
  if (!(error instanceof Error)) return [];
  const causes = messages(error.cause).filter((text) => !error.message.includes(text));
  return [error.message, ...causes];
}
