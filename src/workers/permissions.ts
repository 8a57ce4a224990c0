import type { ServiceConfig } from "../config/service_config.ts";
import { endpointOf, type OfKind, type Remote } from "../config/kind.ts";
import { canonicalAddress, hostsOf } from "../model/address.ts";
import { goesThroughProxy } from "../outgoing/proxy.ts";
import { configuredKinds, KINDS } from "../service/kinds.ts";
import { lookup } from "node:dns/promises";
import { isIP } from "node:net";
import { fileURLToPath } from "node:url";
import { ifExists } from "../model/regular_file.ts";

/** Permission list of a worker as in `deno.permissions`, which denies all others. */
export type WorkerPermissions =
  & { readonly [kind in "net" | "read" | "write"]: string[] | false }
  & typeof NOTHING;

const NOTHING = { env: false, run: false, ffi: false, sys: false, import: false } as const;

const DNS_PORT = 53;

/** Looks up host names; a worker may look up a name only if it may reach its addresses. */
export type Resolve = (host: string) => Promise<readonly string[]>;

/** Returns the edge's permissions: listening on these addresses only. */
export function edgePermissions(
  listening: readonly { readonly address: string; readonly port: number }[],
): WorkerPermissions {
  const net = listening.map(({ address, port }) => endpoint(address, port));
  return { net, read: false, write: false, ...NOTHING };
}

/** Returns the core's permissions: configured files, share store, daemons and providers. */
export async function corePermissions(
  config: ServiceConfig,
  resolve: Resolve,
  kinds = KINDS,
): Promise<WorkerPermissions> {
  const ofKinds = await configuredKinds(config, kinds);
  const net = await Promise.all(
    remoteEndpoints(config, ofKinds).map(async ({ host, port }) => {
      const addresses = await resolve(host);
      return [endpoint(host, port), ...addresses.map((address) => endpoint(address, port))];
    }),
  );
  if (config.resolveClientNames) {
    net.push((await nameServers()).map((address) => endpoint(address, DNS_PORT)));
  }
  const write = [...(config.sharing.directory === undefined ? [] : [config.sharing.directory])];
  return {
    net: orNone(net.flat()),
    read: [...new Set([...await modules(), ...dataFiles(config, ofKinds), ...write])].sort(),
    write: orNone(write),
    ...NOTHING,
  };
}

/** Returns the folder of all modules, also with links resolved: the core loads those of a feature on first use. */
async function modules(): Promise<string[]> {
  const folder = fileURLToPath(new URL("../", import.meta.url));
  return [folder, await ifExists(Deno.realPath(folder)) ?? folder];
}

/** Returns the files that the core reads and rereads. */
function dataFiles(config: ServiceConfig, ofKinds: readonly OfKind[]): string[] {
  const { tls } = config.sharing.database ?? {};
  const files: (string | undefined)[] = [
    ...ofKinds.flatMap(({ config, kind }) => kind.files?.(config) ?? []),
    ...config.servers.map(({ reservations }) => reservations?.file),
    ...[tls?.authorities, tls?.certificate, tls?.key],
    ...config.issuedTokens.trustedIssuerFiles,
    config.gateway.enabled ? config.gateway.certificate : undefined,
  ];
  return [...new Set(files.filter((file) => file !== undefined))].sort();
}

interface Endpoint {
  readonly host: string;
  readonly port: number | undefined; // absent: every port, as data connections of the daemon need it
}

function remoteEndpoints(config: ServiceConfig, ofKinds: readonly OfKind[]): Endpoint[] {
  const endpoints: Endpoint[] = [];
  for (const { name, instances } of config.servers) {
    for (const { host, commandHost, commandPort } of instances) {
      endpoints.push({ host: commandHost, port: commandPort });
      // Own sessions use the daemon's port; their data connections use any.
      if (!config.features.files && !config.sharing.servers.includes(name)) continue;
      for (const name of hostsOf(host)) endpoints.push({ host: name, port: undefined });
    }
  }
  for (const { config: configured, kind } of ofKinds) {
    for (const remote of kind.remotes?.(configured) ?? []) endpoints.push(endpointFor(remote, config));
  }
  endpoints.push(...config.sharing.database?.servers ?? []);
  return endpoints;
}

/** Returns the endpoint for a system: its own or the proxy's. */
function endpointFor(remote: Remote, { outgoing: { proxy } }: ServiceConfig): Endpoint {
  const end = endpointOf(remote);
  const isTunnelled = proxy !== undefined && remote.address.toLowerCase().startsWith("https:") &&
    goesThroughProxy(end.host, proxy);
  return isTunnelled ? proxy : end;
}

function endpoint(host: string, port: number | undefined): string {
  const name = host.includes(":") ? `[${host}]` : host;
  return port === undefined ? name : `${name}:${port}`;
}

function orNone(list: readonly string[]): string[] | false {
  return list.length === 0 ? false : [...new Set(list)].sort();
}

/** Returns a host's addresses by preference; an address itself; nothing for an unknown name. */
export async function resolveHost(host: string): Promise<readonly string[]> {
  if (isIP(host) !== 0) return [host];
  try {
    const found = await lookup(host, { all: true, order: "ipv4first" });
    return [...new Set(found.map(({ address }) => address))];
  } catch {
    return []; // the connector reports it when it tries to connect
  }
}

const MAX_ADDRESSES = 256; // most addresses to keep for one name, the newest first

/** Adds the earlier addresses of a name: DNS may return a few of many in rotation. */
export function withEarlierAddresses(resolve: Resolve): Resolve {
  const known = new Map<string, readonly string[]>();
  return async (host) => {
    const all = [...new Set([...await resolve(host), ...known.get(host) ?? []])].slice(0, MAX_ADDRESSES);
    known.set(host, all);
    return all;
  };
}

/** Returns the name servers of resolv.conf(5), without link-local ones with a zone: a permission cannot name them. */
export async function nameServers(file = "/etc/resolv.conf"): Promise<readonly string[]> {
  const text = await ifExists(Deno.readTextFile(file)) ?? "";
  return [...text.matchAll(/^nameserver[ \t]+(\S+)/gm)].flatMap(([, address = ""]) =>
    canonicalAddress(address) ?? []
  );
}
