import {
  addressRanges,
  className,
  flag,
  integer,
  items,
  optional,
  path,
  seconds,
  secretText,
  section,
  text,
} from "../key.ts";

/** General security settings (rest-api.md 3.5). */
export const SECURITY = section({
  prefix: "container.security.",
  title: "Security",
  keys: {
    tls: flag({
      name: "sslEnabled",
      help: "Use HTTPS; false means plain HTTP, for tests only",
      default: true,
    }),
    accessControl: flag({
      name: "accesscontrol",
      help: "Enable access control; false allows everything to everyone, for tests only",
      default: true,
    }),
    pdp: optional(className({
      name: "accesscontrol.pdp",
      help: "Access control class; the service ignores it and uses its built-in rules",
    })),
    additionalServiceIdentifiers: items(text({
      name: "additionalServiceIdentifier",
      help: "Additional audience of this service in SAML assertions",
    })),
  },
  ignored: {
    "accesscontrol.pdpConfig":
      "the service does not evaluate XACML policies; its built-in rules equal the default policy of the Java service",
    "accesscontrol.*": "access control is on or off for all services, see container.security.accesscontrol",
    sessionsEnabled: "security sessions are not issued, each request shows its credentials",
    sessionLifetime: "security sessions are not issued, each request shows its credentials",
    sessionsPerUser: "security sessions are not issued, each request shows its credentials",
    "defaultVOs.*": "the service has no virtual organisations",
    signatures: "deprecated, requests are not signed",
    "rest.enableMessageLogging": "the service never logs message contents",
  },
});

/** Gateway (credentials.md 9). */
export const GATEWAY = section({
  prefix: "container.security.gateway.",
  title: "Gateway",
  keys: {
    enabled: flag({
      name: "enable",
      help: "The service is behind a gateway; it accepts X-UNICORE-… headers only from trustedPeers",
      default: false,
    }),
    trustedPeers: addressRanges({ help: "Client addresses of the gateway", default: [], added: true }),
    certificate: optional(path({
      help:
        "Certificate of the gateway, PEM or DER (file name ends in .der), to verify user names that the gateway signs",
    })),
  },
  ignored: {
    "wait*": "the service does not wait for the gateway",
    "registration*": "the service does not register itself; add it to the gateway's connections file",
    checkSignature: "deprecated, signatures are always checked",
  },
});

/** Issued and accepted tokens (credentials.md 4). */
export const ISSUED_TOKENS = section({
  prefix: "container.security.rest.jwt.",
  title: "Issued tokens",
  keys: {
    lifetimeSeconds: seconds({ name: "lifetime", help: "Default token lifetime", default: 300, min: 1 }),
    maxLifetimeSeconds: seconds({
      name: "maxLifetime",
      help: "Maximum token lifetime",
      default: 86_400,
      min: 1,
      added: true,
    }),
    hmacSecret: optional(secretText({
      help: "Accept HS256 tokens signed with this secret; anyone who has the secret can act as any user",
      minBytes: 32,
    })),
    trustedIssuerCert: items(path({
      help:
        "Certificate (PEM; RSA keys of 2048 to 4096 bits) of another service whose tokens are accepted; that service can act as any user",
    })),
    trustedLocalIssuer: items(path({ help: "The same, under the name in the manual of the Java service" })),
  },
});

/** Browser sign-in. */
export const BROWSERS = section({
  prefix: "container.security.browser.",
  title: "Browser sessions",
  added: true,
  keys: {
    idleSeconds: seconds({
      name: "idleTime",
      help: "Idle timeout of a browser session",
      default: 1800,
      min: 60,
    }),
    maxSeconds: seconds({
      name: "maxTime",
      help: "Maximum lifetime of a browser session",
      default: 28_800,
      min: 60,
    }),
    deviceLogin: flag({
      help:
        "Let command-line programs log in through a browser (RFC 8628): /login/device, /login.sh and /oauth/…",
      default: true,
    }),
  },
});

/** Login throttling. */
export const THROTTLING = section({
  prefix: "container.security.throttling.",
  title: "Failed logins",
  added: true,
  keys: {
    enabled: flag({ name: "enable", help: "Enable login throttling", default: true }),
    maxFailures: integer({
      help: "Failed logins within the window that cause no delay",
      default: 5,
      min: 1,
      max: 10_000,
    }),
    windowSeconds: seconds({
      name: "window",
      help: "Time for which a failed login counts",
      default: 600,
      min: 1,
    }),
    baseDelaySeconds: seconds({
      name: "baseDelay",
      help: "First delay; it doubles with each further failure",
      default: 5,
      min: 1,
    }),
    maxDelaySeconds: seconds({ name: "maxDelay", help: "Maximum delay", default: 900, min: 1 }),
  },
});
