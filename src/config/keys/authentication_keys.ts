import { className, flag, list, optional, section } from "../key.ts";

/** Authenticators (specification 5; authentication.md 1.1). */
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
