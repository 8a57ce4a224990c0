import { flag, host, integer, list, oneOf, optional, port, secretText, text } from "../key.ts";
import { section } from "../section.ts";

/** Requests of this service to identity providers and XUUDB (rest-api.md 3.4, authentication.md 5.1). */
export const CLIENT = section({
  prefix: "container.client.",
  title: "Outgoing requests",
  unknown: "error",
  keys: {
    hostnameChecking: oneOf(["NONE", "WARN", "FAIL"], {
      name: "serverHostnameChecking",
      help: "What to do if a server's certificate is for another host; not applied to daemons",
      default: "FAIL",
    }),
    showCertificate: flag({
      name: "sslAuthnEnabled",
      help: "Show the own certificate to an XUUDB that asks; for identity providers see doTLSAuthn",
      default: true,
    }),
    publicRoots: flag({
      help:
        "Trust the public authorities of the system besides the truststore, for identity providers; never for daemons",
      default: false,
      added: true,
    }),
    connectTimeoutMs: integer({
      name: "http.connection.timeout",
      help: "Longest wait for a connection",
      default: 10_000,
      min: 100,
      zero: "no limit",
      unit: "milliseconds",
    }),
    timeoutMs: integer({
      name: "http.socket.timeout",
      help: "Longest wait for a complete answer",
      default: 20_000,
      min: 100,
      zero: "no limit",
      unit: "milliseconds",
    }),
    idleTimeoutMs: integer({
      name: "http.idle.timeout",
      help: "How long an unused connection stays open",
      default: 30_000,
      unit: "milliseconds",
    }),
    maxConnectionsPerHost: integer({
      name: "http.maxPerRoute",
      help:
        "Most connections to one host; of those to an identity provider a third is kept for users who are known",
      default: 6,
      min: 1,
    }),
    maxConnections: integer({ name: "http.maxTotal", help: "Most connections in all", default: 20, min: 1 }),
    proxyHost: optional(host({
      name: "http.proxyHost",
      help: "HTTP proxy through which systems with https:// addresses are reached, by CONNECT; never daemons",
    })),
    proxyPort: optional(port({ name: "http.proxyPort", help: "Port of the proxy" })),
    proxyType: oneOf(["HTTP"], {
      name: "http.proxyType",
      help: "How the proxy is spoken to",
      default: "HTTP",
    }),
    proxyUser: optional(text({ name: "http.proxy.user", help: "User name at the proxy (Basic)" })),
    proxyPassword: optional(secretText({ name: "http.proxy.password", help: "Password at the proxy" })),
    nonProxyHosts: list({
      name: "http.nonProxyHosts",
      help:
        "Hosts that are reached without the proxy, as this machine always is: names with * and ?, domains (.example.org), addresses or ranges",
      default: [],
    }),
  },
  ignored: {
    httpAuthnEnabled: "the service shows no credentials of its own",
    httpUser: "the service shows no credentials of its own",
    httpPassword: "the service shows no credentials of its own",
    securitySessions: "no sessions are kept with other systems",
    digitalSigningEnabled: "requests are not signed",
    messageLogging: "message contents are never logged",
    maxWsCallRetries: "requests are not repeated",
    wsCallRetryDelay: "requests are not repeated",
    sslEnabled: "addresses say whether a system is reached by https",
    "http.maxRedirects": "redirects are never followed",
    "http.allowCircularRedirects": "redirects are never followed",
    "http.connection-close": "connections are kept while they are useful",
    "http.allow-chunking": "requests are sent with their length",
    "http.enable-retries": "requests are not repeated",
  },
});
