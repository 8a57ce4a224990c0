import { className, flag, list, optional } from "../key.ts";
import { section } from "../section.ts";

/** Authenticators (specification 5; authentication.md 1.1). */
export const AUTHENTICATION = section({
  prefix: "container.security.rest.authentication.",
  title: "Authentication",
  unknown: "error",
  keys: {
    order: list({ help: "Names of the methods, in the order they are asked", default: [] }),
    failOnMissingCredentials: flag({
      name: "failOnMissingAuthCredentials",
      help: "Refuse callers without credentials; otherwise they see the public part",
      default: false,
    }),
  },
});

/** Keys of every authenticator. */
export const METHOD = section({
  prefix: "container.security.rest.authentication.<method>.",
  title: "One method of authentication",
  unknown: "error",
  anyCase: true,
  keys: {
    class: optional(className({
      help: "Class of the method; known names have a default. The package does not matter",
    })),
  },
});
