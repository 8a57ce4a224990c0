import { addressRanges, className, flag, integer, items, optional, path, secretText, text } from "../key.ts";
import { section } from "../section.ts";

/** General security settings (rest-api.md 3.5). */
export const SECURITY = section({
  prefix: "container.security.",
  title: "Security",
  unknown: "error",
  keys: {
    tls: flag({ name: "sslEnabled", help: "HTTPS; false is plain HTTP, for tests only", default: true }),
    accessControl: flag({
      name: "accesscontrol",
      help: "Check what callers may do; false lets everybody do everything, for tests only",
      default: true,
    }),
    pdp: optional(className({
      name: "accesscontrol.pdp",
      help: "Class that decides about access; whatever it is, the built-in rules are used",
    })),
    additionalServiceIdentifiers: items(text({
      name: "additionalServiceIdentifier",
      help: "Further name of this service that SAML assertions may be meant for",
    })),
  },
  ignored: {
    "accesscontrol.pdpConfig":
      "XACML policy files are not evaluated, the built-in rules equal the policy that the Java service came with",
    "accesscontrol.*":
      "access control is on or off for all services alike, see container.security.accesscontrol",
    sessionsEnabled: "security sessions are not issued, each request shows its credentials",
    sessionLifetime: "security sessions are not issued, each request shows its credentials",
    sessionsPerUser: "security sessions are not issued, each request shows its credentials",
    "defaultVOs.*": "there are no virtual organisations",
    signatures: "deprecated, requests are not signed",
    "rest.enableMessageLogging": "message contents are never logged",
  },
});

/** Gateway (authentication.md 9). */
export const GATEWAY = section({
  prefix: "container.security.gateway.",
  title: "Gateway",
  unknown: "error",
  keys: {
    enabled: flag({
      name: "enable",
      help:
        "There is a gateway in front; headers X-UNICORE-… count only if they come from one of trustedPeers",
      default: false,
    }),
    trustedPeers: addressRanges({
      help: "Addresses of the gateway, as the service sees them",
      default: [],
      added: true,
    }),
    certificate: optional(path({
      help:
        "Certificate of the gateway, PEM or (name ends in .der) DER; it verifies the users' names the gateway signs",
    })),
  },
  ignored: {
    "wait*": "the service does not wait for the gateway",
    "registration*": "the service does not register itself, add it to the gateway's connections file",
    checkSignature: "deprecated, signatures are always checked",
  },
});

/** Issued and accepted tokens (authentication.md 4). */
export const ISSUED_TOKENS = section({
  prefix: "container.security.rest.jwt.",
  title: "Issued tokens",
  unknown: "error",
  keys: {
    lifetimeSeconds: integer({
      name: "lifetime",
      help: "Lifetime of a token, unless its request names one",
      default: 300,
      min: 1,
      unit: "seconds",
    }),
    maxLifetimeSeconds: integer({
      name: "maxLifetime",
      help: "Longest lifetime that may be requested",
      default: 86_400,
      min: 1,
      unit: "seconds",
      added: true,
    }),
    hmacSecret: optional(secretText({
      help: "Accept HS256 tokens made with this secret; whoever has it can act as any user",
      minBytes: 32,
    })),
    trustedIssuerCert: items(path({
      help:
        "Certificate (PEM; RSA keys have 2048 to 4096 bits) of another service whose tokens count; it can act as any user",
    })),
    trustedLocalIssuer: items(path({ help: "The same, by its name in the Java service's manual" })),
  },
});

/** Browser sign-in. */
export const BROWSERS = section({
  prefix: "container.security.browser.",
  title: "Browsers that are signed in",
  unknown: "error",
  keys: {
    idleSeconds: integer({
      name: "idleTime",
      help: "A browser is signed out that has not been used for so long",
      default: 1800,
      min: 60,
      unit: "seconds",
      added: true,
    }),
    maxSeconds: integer({
      name: "maxTime",
      help: "A browser is signed out that was signed in so long ago",
      default: 28_800,
      min: 60,
      unit: "seconds",
      added: true,
    }),
  },
});

/** Login throttling. */
export const THROTTLING = section({
  prefix: "container.security.throttling.",
  title: "Failed logins",
  unknown: "error",
  keys: {
    enabled: flag({ name: "enable", help: "Slow down guessing of passwords", default: true, added: true }),
    maxFailures: integer({
      help: "Failed logins within the window that cost nothing",
      default: 5,
      min: 1,
      max: 10_000,
      added: true,
    }),
    windowSeconds: integer({
      name: "window",
      help: "How long a failed login is remembered",
      default: 600,
      min: 1,
      unit: "seconds",
      added: true,
    }),
    baseDelaySeconds: integer({
      name: "baseDelay",
      help: "First wait; it doubles with each further failure",
      default: 5,
      min: 1,
      unit: "seconds",
      added: true,
    }),
    maxDelaySeconds: integer({
      name: "maxDelay",
      help: "Longest wait",
      default: 900,
      min: 1,
      unit: "seconds",
      added: true,
    }),
  },
});
