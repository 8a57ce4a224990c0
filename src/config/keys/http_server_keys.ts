import { addressRanges, flag, integer, list, oneOf, optional, text } from "../key.ts";
import { section } from "../section.ts";

/** HTTPS listener (rest-api.md 3.4). */
export const HTTP_SERVER = section({
  prefix: "container.httpServer.",
  title: "HTTPS listener",
  unknown: "error",
  keys: {
    requireClientCertificate: flag({
      name: "requireClientAuthn",
      help: "Refuse clients without a trusted certificate (the Java service does so unless told not to)",
      default: false,
    }),
    requestClientCertificate: flag({
      name: "wantClientAuthn",
      help:
        "Ask clients for a certificate, if X509 is among the methods; one that is not trusted does not count",
      default: true,
    }),
    maxConnections: optional(integer({
      help:
        "Most connections at a time; without it 4096, or what the limit of open files allows; 0 is up to 16384 of these",
    })),
    maxIdleMs: integer({
      name: "maxIdleTime",
      help:
        "After which a connection on which nothing moves is closed, up to half as much later; between requests, 60000 at most count",
      default: 200_000,
      min: 1000,
      unit: "milliseconds",
    }),
    proxyPeers: addressRanges({
      name: "proxyProtocol.trustedPeers",
      help:
        "Load balancers that forward TCP: their connections must begin with a PROXY protocol header (version 1 or 2), and no others",
      default: [],
      added: true,
    }),
    disabledProtocols: list({
      help: "TLS versions that are refused; versions before TLSv1.2 always are",
      default: ["TLSv1.1", "TLSv1"],
    }),
    hsts: optional(flag({
      name: "enableHsts",
      help:
        "Send Strict-Transport-Security, for subdomains too; unset, it is sent for the host alone, if there is no gateway",
    })),
    hstsMaxAge: integer({
      help: "How long browsers keep to that",
      default: 31_536_000,
      unit: "seconds",
      added: true,
    }),
    framePolicy: oneOf(["deny", "sameOrigin", "allowFrom", "allow"], {
      name: "xFrameOptions",
      help: "Who may show our pages in a frame",
      default: "deny",
    }),
    frameAllowed: text({
      name: "xFrameAllowed",
      help: "Origin that may, with xFrameOptions=allowFrom",
      default: "http://localhost",
    }),
    cors: flag({ name: "enableCORS", help: "Answer scripts of other web sites", default: false }),
    corsOrigins: list({
      name: "CORS_allowedOrigins",
      help: "Origins of these web sites, or * for any",
      default: ["*"],
    }),
    corsHeaders: list({
      name: "CORS_allowedHeaders",
      help: "Headers they may send, besides Authorization",
      default: ["*"],
    }),
    corsMethods: list({
      name: "CORS_allowedMethods",
      help: "Methods they may use",
      default: ["GET", "PUT", "POST", "DELETE", "HEAD"],
    }),
    corsExposedHeaders: list({
      name: "CORS_exposedHeaders",
      help: "Headers of answers they may read, besides ETag, Retry-After, X-Request-Id and Content-Range",
      default: ["Location", "Content-Type"],
    }),
  },
  ignored: {
    maxThreads: "there are no threads per request",
    minThreads: "there are no threads per request",
    "gzip.*": "answers are not compressed",
    disabledCipherSuites: "only suites with forward secrecy and authenticated encryption are offered",
    fastRandom: "random numbers are always cryptographic",
    enableSNI: "there is one certificate for all names",
    CORS_chainPreflight: "preflight requests are always answered here",
  },
});
