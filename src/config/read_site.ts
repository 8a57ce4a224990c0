import { isIPv6 } from "node:net";
import { dirname, join, resolve } from "node:path";
import { attempt } from "../model/attempt.ts";
import { trimEndCharacters } from "../model/text.ts";
import { UnexpectedValue, url } from "./key.ts";
import type { KeyReader } from "./key_reader.ts";
import { AUDIT, CONTAINER, CONTROL, FEATURES, LOGGING, METRICS } from "./keys/container_keys.ts";
import { HTTP_SERVER } from "./keys/http_server_keys.ts";
import { withKinds } from "./kind.ts";
import { type Known, type Parts, readerOf } from "./section_reader.ts";
import type {
  AuditDestination,
  ControlConfig,
  HttpsConfig,
  LoggingConfig,
  SiteConfig,
} from "./service_config.ts";

/** Reads name and addresses (rest-api.md 3.3). */
export const readSite = readerOf(CONTAINER, (keys, reader, known) => {
  const { name, host, port, externalUrl, baseUrl, liveReload, drainSeconds } = keys;
  const fromBase = externalUrl === undefined && baseUrl !== undefined
    ? parseBaseUrl(reader, baseUrl)
    : undefined;
  if (externalUrl?.includes("?")) {
    reader.error("container.externalurl", "expected a URL without query", externalUrl);
  }
  if (OWN_PATHS.includes(name.toLowerCase())) {
    const expected =
      `expected another name: below its site's name the service answers as at /, so that would hide /${name}/`;
    reader.error("container.sitename", expected, name);
  }
  const given = externalUrl ?? fromBase;
  const address = trimEndCharacters(given ?? derivedUrl(keys, known), "/");
  const site = { name, host, port, externalUrl: address, externalUrlGiven: given !== undefined };
  return { site, liveReload, drainSeconds };
});

/** First parts of the service's paths that have more than one. */
const OWN_PATHS =
  "admin dav drop files files-upload health link login oauth oidc rest shared shares tokens .well-known"
    .split(" ");

/** Parses `<host>:<port>/<site>/services…` with or without scheme. */
function parseBaseUrl(reader: KeyReader, baseUrl: string): string | undefined {
  const [root = ""] = `${baseUrl}/`.split("/services/", 1);
  const full = root.includes("://") ? root : `https://${root}`;
  const { parse } = url({ help: "", schemes: ["https", "http"] });
  return attempt(() => parse(full, reader), UnexpectedValue, ({ secret }) => {
    const expected = "expected <host>:<port>/<sitename>/services";
    reader.error("container.baseurl", expected, secret ? undefined : baseUrl);
    return undefined;
  });
}

function derivedUrl(
  { name, host, port }: Pick<SiteConfig, "name" | "host" | "port">,
  { tls = true, gateway, hostName }: Known,
): string {
  const publicHost = host === "0.0.0.0" || host === "::" ? hostName() : host;
  const authority = `${isIPv6(publicHost) ? `[${publicHost}]` : publicHost}:${port}`;
  return `${tls ? "https" : "http"}://${authority}${gateway?.enabled === true ? `/${name}` : ""}`;
}

/** Reads the enabled services; a disabled feature disables its services. */
export const readFeatures = readerOf(
  FEATURES,
  ({ authServer, auth, dataSharing, share, access, files, admin, adminService }) => ({
    features: {
      auth: authServer && auth,
      share: dataSharing && share,
      access: dataSharing && access,
      files,
      admin: admin && adminService,
    },
  }),
);

/** TLS version in the names of the Java service. */
const PROTOCOL = /^(?:sslv[23]|sslv2hello|tlsv1(?:\.[1-3])?)$/;

/** Reads the listener (rest-api.md 3.4); requests client certificates only if needed, since browsers prompt. */
export const readHttps = readerOf(HTTP_SERVER, async (keys, reader, known) => {
  const { tls = true, gateway, authentication, kinds } = known;
  const ofKinds = await withKinds(authentication?.authenticators ?? [], kinds.authenticators);
  const usesCertificates = gateway?.enabled !== true &&
    ofKinds.some(({ config, kind }) => kind.usesCertificates?.(config));
  const disabled = keys.disabledProtocols.map((protocol) => protocol.toLowerCase());
  const refuse = (expected: string) =>
    reader.error("container.httpServer.disabledProtocols", expected, keys.disabledProtocols.join(" "));
  if (!disabled.every((name) => PROTOCOL.test(name))) refuse("expected names such as TLSv1.2");
  const minTlsVersion = disabled.includes("tlsv1.2") ? "TLSv1.3" : "TLSv1.2";
  const maxTlsVersion = disabled.includes("tlsv1.3") ? "TLSv1.2" : "TLSv1.3";
  if (minTlsVersion > maxTlsVersion) refuse("expected at most one of TLSv1.2 and TLSv1.3");
  const hsts = keys.hsts ?? (tls && gateway?.enabled !== true); // a proxy sets its own
  const https: HttpsConfig = {
    tls,
    clientCertificate: keys.requireClientCertificate
      ? "required"
      : keys.requestClientCertificate && usesCertificates
      ? "requested"
      : "none",
    minTlsVersion,
    maxTlsVersion,
    maxConnections: keys.maxConnections,
    maxIdleMs: keys.maxIdleMs,
    proxyPeers: keys.proxyPeers,
    hsts: hsts ? { maxAgeSeconds: keys.hstsMaxAge, includeSubDomains: keys.hsts === true } : undefined,
    frames: { policy: keys.framePolicy, allowed: keys.frameAllowed },
    cors: keys.cors
      ? {
        origins: keys.corsOrigins,
        methods: keys.corsMethods,
        requestHeaders: keys.corsHeaders,
        exposedHeaders: keys.corsExposedHeaders,
      }
      : undefined,
  };
  return { https };
});

/** Reads log settings; file `-` means console only. */
export function readLogging(reader: KeyReader): { readonly logging: LoggingConfig } | undefined {
  const keys = reader.read(LOGGING);
  if (keys === undefined) return undefined;
  const { file, ...rest } = keys;
  const { maxSize } = rest;
  const expected = "keeps little, expected at least 65536 bytes";
  if (maxSize > 0 && maxSize < 65_536) reader.warn("container.logging.maxSize", expected, `${maxSize}`);
  return { logging: { ...rest, file: file === "-" ? undefined : resolve(reader.workingDirectory, file) } };
}

/** Reads audit settings. Default: a file beside the log file. */
export const readAudit = readerOf(AUDIT, ({ file, journal, syslog, required }, reader, { logging }) => {
  const chosen = Object.entries({ journal: journal || undefined, syslog, file }).filter(([, value]) => value);
  const [first, second] = chosen;
  if (first && second) {
    const expected = `expected one destination, there is ${AUDIT.prefix}${second[0]} too`;
    reader.error(`${AUDIT.prefix}${first[0]}`, expected, String(first[1]));
  }
  const audit = (to: AuditDestination): Parts => ({ audit: { required, ...to } });
  if (journal) return audit({ to: "journal" });
  if (syslog !== undefined) return audit({ to: "syslog", address: syslog });
  const chosenFile = file ?? (logging?.file && join(dirname(logging.file), "audit.log")) ?? "-";
  if (chosenFile === "-") return audit({ to: "console" });
  const path = resolve(reader.workingDirectory, chosenFile);
  if (path === logging?.file && !path.startsWith("/dev/")) {
    const key = file === undefined ? "container.logging.file" : `${AUDIT.prefix}file`;
    reader.error(key, "expected different files for log and audit stream", path);
  }
  return audit({ to: "file", path });
});

/** Reads the control socket; `-` disables it. */
export function readControl(reader: KeyReader): { readonly control: ControlConfig } | undefined {
  const keys = reader.read(CONTROL);
  if (keys === undefined) return undefined;
  const { socket } = keys;
  const path = socket === undefined || socket === "-" ? undefined : resolve(reader.workingDirectory, socket);
  return { control: { enabled: socket !== "-", socket: path } };
}

/** Reads the metrics endpoint, disabled without a port. */
export const readMetrics = readerOf(METRICS, ({ host, port }) => ({
  metrics: { listen: port === undefined ? undefined : { host, port } },
}));
