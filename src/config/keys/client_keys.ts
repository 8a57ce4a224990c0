import { flag, host, integer, list, oneOf, optional, port, secretText, section, text } from "../key.ts";

/** Connections of this service to identity providers and attribute sources (rest-api.md 3.4, credentials.md 5.1). */
export const CLIENT = section({
  prefix: "container.client.",
  title: "Outgoing requests",
  keys: {
    hostnameChecking: oneOf(["NONE", "WARN", "FAIL"], {
      name: "serverHostnameChecking",
      help: "Reaction to a server certificate for another host name; does not apply to daemons",
      default: "FAIL",
    }),
    showCertificate: flag({
      name: "sslAuthnEnabled",
      help:
        "Send the service's certificate to an attribute source that asks for one; for identity providers see doTLSAuthn",
      default: true,
    }),
    publicRoots: flag({
      help:
        "Trust the system's public certificate authorities in addition to the truststore, for identity providers only, never for daemons",
      default: false,
      added: true,
    }),
    connectTimeoutMs: integer({
      name: "http.connection.timeout",
      help: "Connection timeout",
      default: 10_000,
      min: 100,
      zero: "no limit",
      unit: "milliseconds",
    }),
    timeoutMs: integer({
      name: "http.socket.timeout",
      help: "Timeout for a complete response",
      default: 20_000,
      min: 100,
      zero: "no limit",
      unit: "milliseconds",
    }),
    idleTimeoutMs: integer({
      name: "http.idle.timeout",
      help: "Time until an idle connection is closed",
      default: 30_000,
      unit: "milliseconds",
    }),
    maxConnectionsPerHost: integer({
      name: "http.maxPerRoute",
      help:
        "Maximum number of connections to one host; for an identity provider, a third is reserved for known users",
      default: 6,
      min: 1,
    }),
    maxConnections: integer({
      name: "http.maxTotal",
      help: "Maximum number of connections in total",
      default: 20,
      min: 1,
    }),
    proxyHost: optional(host({
      name: "http.proxyHost",
      help: "HTTP proxy (CONNECT) for systems with https:// addresses; never for daemons",
    })),
    proxyPort: optional(port({ name: "http.proxyPort", help: "Port of the proxy" })),
    proxyType: oneOf(["HTTP"], { name: "http.proxyType", help: "Protocol to the proxy", default: "HTTP" }),
    proxyUser: optional(text({ name: "http.proxy.user", help: "User name for the proxy (Basic)" })),
    proxyPassword: optional(secretText({ name: "http.proxy.password", help: "Password for the proxy" })),
    nonProxyHosts: list({
      name: "http.nonProxyHosts",
      help:
        "Hosts to reach without the proxy: names with * and ?, domains (.example.org), addresses or ranges. This machine is always reached without it",
      default: [],
    }),
  },
  ignored: {
    httpAuthnEnabled: "the service shows no credentials of its own",
    httpUser: "the service shows no credentials of its own",
    httpPassword: "the service shows no credentials of its own",
    securitySessions: "no sessions are kept with other systems",
    digitalSigningEnabled: "requests are not signed",
    messageLogging: "the service never logs message contents",
    maxWsCallRetries: "the service does not repeat requests",
    wsCallRetryDelay: "the service does not repeat requests",
    sslEnabled: "addresses say whether a system is reached by https",
    "http.maxRedirects": "the service never follows redirects",
    "http.allowCircularRedirects": "the service never follows redirects",
    "http.connection-close": "the service reuses connections",
    "http.allow-chunking": "the service sends requests with Content-Length",
    "http.enable-retries": "the service does not repeat requests",
  },
});
