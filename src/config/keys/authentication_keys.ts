import { className, flag, list, optional, seconds, section } from "../key.ts";

/** Authenticators (specification 5; credentials.md 1.1). */
export const AUTHENTICATION = section({
  prefix: "container.security.rest.authentication.",
  title: "Authentication",
  keys: {
    order: list({ help: "Names of the authenticators, in the order of evaluation", default: [] }),
    failOnMissingCredentials: flag({
      name: "failOnMissingAuthCredentials",
      help: "Reject callers without credentials; otherwise they see the public information",
      default: false,
    }),
  },
});

/** Keys of every authenticator. */
export const METHOD = section({
  prefix: "container.security.rest.authentication.<method>.",
  title: "One authenticator",
  anyCase: true,
  keys: {
    class: optional(className({
      help: "Class of the authenticator; known names have a default. The service ignores the Java package",
    })),
  },
});

/** See `requireHttps()`. */
export const ALLOW_PLAIN_HTTP = flag({
  help: "Allow an http:// URL of another machine; tokens and passwords then travel unencrypted",
  default: false,
  added: true,
});

/** Sends the server's certificate to the provider. */
export const SHOW_CERTIFICATE = flag({
  name: "doTLSAuthn",
  help: "Send the service's certificate to the identity provider",
  default: false,
});

/** Default lifetime in seconds of what is derived from a login whose source cannot look up users. */
export const DERIVED_S = 8 * 3600;

/** See `Authenticator.derivedLifetime`. */
export const DERIVED_LIFETIME = seconds({
  help: "Maximum lifetime of browser sessions and tokens of this service from such a login; 0 disables both",
  max: 30 * 86_400,
  default: DERIVED_S,
  added: true,
});
