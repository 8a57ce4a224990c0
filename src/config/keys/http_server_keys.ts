import { addressRanges, flag, ignored, integer, list, oneOf, optional, section, text } from "../key.ts";

/** HTTPS listener (rest-api.md 3.4). */
export const HTTP_SERVER = section({
  prefix: "container.httpServer.",
  title: "HTTPS listener",
  keys: {
    requireClientCertificate: flag({
      name: "requireClientAuthn",
      help: "Reject clients without a trusted certificate (default in the Java service)",
      default: false,
    }),
    requestClientCertificate: flag({
      name: "wantClientAuthn",
      help: "Request a client certificate if X509 is configured; the service ignores untrusted certificates",
      default: true,
    }),
    maxConnections: optional(integer({
      help:
        "Maximum number of concurrent connections. If not set: 4096, or what the limit of open files allows; 0: up to 16384 within that limit",
    })),
    maxIdleMs: integer({
      name: "maxIdleTime",
      help:
        "Idle timeout of a connection, at most 60000 between requests. The service closes the connection at most half of that time later",
      default: 200_000,
      min: 1000,
      unit: "milliseconds",
    }),
    proxyPeers: addressRanges({
      name: "proxyProtocol.trustedPeers",
      help:
        "Addresses of load balancers that forward TCP: their connections, and only theirs, must begin with a PROXY protocol header (version 1 or 2)",
      default: [],
      added: true,
    }),
    disabledProtocols: list({
      help: "TLS versions to disable; versions before TLSv1.2 are always disabled",
      default: ["TLSv1.1", "TLSv1"],
    }),
    hsts: optional(flag({
      name: "enableHsts",
      help:
        "Send Strict-Transport-Security for the host and its subdomains. If not set, it covers the host only, and is sent only without a gateway",
    })),
    hstsMaxAge: integer({
      help: "Value max-age of Strict-Transport-Security",
      default: 31_536_000,
      unit: "seconds",
      added: true,
    }),
    framePolicy: oneOf(["deny", "sameOrigin", "allowFrom", "allow"], {
      name: "xFrameOptions",
      help: "Sites that may show the web pages in a frame",
      default: "deny",
    }),
    frameAllowed: text({
      name: "xFrameAllowed",
      help: "Allowed origin for xFrameOptions=allowFrom",
      default: "http://localhost",
    }),
    cors: flag({ name: "enableCORS", help: "Allow cross-origin requests (CORS)", default: false }),
    corsOrigins: list(
      { name: "CORS_allowedOrigins", help: "Allowed origins, or * for any", default: ["*"] },
      (found) =>
        found === "*" || found === "null" || (URL.parse(found)?.origin === found && !found.includes("*"))
          ? undefined
          : `${found} matches no request; expected an origin such as https://portal.example.org`,
    ),
    corsHeaders: list({
      name: "CORS_allowedHeaders",
      help: "Allowed request headers, in addition to Authorization",
      default: ["*"],
    }),
    corsMethods: list({
      name: "CORS_allowedMethods",
      help: "Allowed HTTP methods",
      default: ["GET", "PUT", "POST", "DELETE", "HEAD"],
    }),
    corsExposedHeaders: list({
      name: "CORS_exposedHeaders",
      help: "Exposed response headers, in addition to ETag, Retry-After, X-Request-Id and Content-Range",
      default: ["Location", "Content-Type"],
    }),
  },
  ignored: {
    ...ignored("there are no threads per request", "maxThreads minThreads"),
    "gzip.*": "the service does not compress responses",
    disabledCipherSuites: "only suites with forward secrecy and authenticated encryption are offered",
    fastRandom: "random numbers are always cryptographic",
    enableSNI: "there is one certificate for all names",
    CORS_chainPreflight: "preflight requests are always answered here",
  },
});
