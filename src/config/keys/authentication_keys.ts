import {
  className,
  distinguishedName,
  flag,
  integer,
  list,
  optional,
  path,
  secretText,
  text,
  url,
} from "../key.ts";
import { section } from "../section.ts";

/** Which methods authenticate users (specification 5; authentication.md 1.1). */
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

const METHOD_PREFIX = "container.security.rest.authentication.<method>.";

/** What each method has, whatever its class. */
const METHOD_CLASS = optional(className({
  name: "class",
  help: "Class of the method; known names have a default. The package does not matter",
}));

const ASSIGNED = {
  uid: optional(text({ name: "uidAssign", help: "Expression for the Unix account" })),
  role: optional(
    text({ name: "roleAssign", help: "Expression for the role; without it, user if there is an account" }),
  ),
  groups: optional(text({ name: "groupsAssign", help: "Expression for the groups" })),
};

const DO_TLS = flag({
  name: "doTLSAuthn",
  help: "Show the own certificate to the identity provider",
  default: false,
});

/** The class alone, read before it is known which table applies. */
export const METHOD = section({
  prefix: METHOD_PREFIX,
  title: "One method of authentication",
  unknown: "warning",
  anyCase: true,
  keys: { class: METHOD_CLASS },
});

/** Password file (specification 2.5). */
export const PASSWORD_FILE = section({
  prefix: METHOD_PREFIX,
  title: "FilebasedAuthenticator: user name and password (PASSWORD, FILE)",
  unknown: "warning",
  anyCase: true,
  keys: { class: METHOD_CLASS, file: path({ help: "Password file, lines user:hash:salt:DN" }) },
});

/** SSH keys (specification 2.6). */
export const SSH_KEY = section({
  prefix: METHOD_PREFIX,
  title: "SSHKeyAuthenticator: SSH keys (SSHKEY)",
  unknown: "warning",
  anyCase: true,
  keys: {
    class: METHOD_CLASS,
    file: optional(path({ help: "Keys file, lines user:key:DN; its users' other keys do not count" })),
    dnTemplate: distinguishedName({
      help: "Name of users whose key comes from a daemon; %s is the user name",
      placeholder: "%s",
      default: "CN=%s, OU=ssh-local-users",
    }),
    useAuthorizedKeys: flag({ help: "Ask the daemons for users' authorized_keys", default: true }),
    updateIntervalSeconds: integer({
      name: "updateInterval",
      help: "How long these keys are used before the daemons are asked again",
      default: 600,
      min: 1,
      unit: "seconds",
    }),
    legacyToken: flag({
      help: "Accept the token of Java clients up to 2.2.2; who has seen one can use it again",
      default: false,
      added: true,
    }),
    maxTokenLifetimeSeconds: integer({
      name: "maxTokenLifetime",
      help: "Longest time that a token may still be valid",
      default: 86_400,
      min: 1,
      unit: "seconds",
      added: true,
    }),
  },
  ignored: {
    identityAssign: "the name comes from the keys file or from dnTemplate",
    userInfo: "keys come from the keys file and the daemons only",
  },
});

/** OAuth bearer tokens (specification 5). */
export const OAUTH = section({
  prefix: METHOD_PREFIX,
  title: "OAuthAuthenticator: OAuth tokens (OAUTH)",
  unknown: "warning",
  anyCase: true,
  keys: {
    class: METHOD_CLASS,
    address: url({
      help: "Userinfo endpoint of the OIDC server, or with validate=true its introspection endpoint",
      schemes: ["https"],
    }),
    validate: flag({ help: "Ask the introspection endpoint, as an OAuth client", default: false }),
    clientId: optional(
      text({ name: "clientID", help: "Name of this client at the OIDC server, for validate=true" }),
    ),
    clientSecret: optional(secretText({ help: "Secret of this client, for validate=true" })),
    identity: optional(
      text({ name: "identityAssign", help: 'Expression for the user\'s name, such as "UID="+email' }),
    ),
    ...ASSIGNED,
    dnTemplate: optional(
      text({ help: "Deprecated, see identityAssign: a name with %attribute placeholders" }),
    ),
    showCertificate: DO_TLS,
    opaqueTokens: flag({
      help: "Pass on tokens that are no signed JWTs; false where the server makes none, such as Keycloak",
      default: true,
      added: true,
    }),
    requiredAudience: optional(text({
      help:
        "Audience (aud) that the server's answer must name; without any of the three, every token of the server logs in",
      added: true,
    })),
    requiredClient: optional(text({
      help: "Client (client_id or azp) that the token must have been issued to",
      added: true,
    })),
    requiredScope: optional(text({ help: "Scope that the token must have", added: true })),
  },
});

/** Unity, by SAML (specification 5). */
export const UNITY = section({
  prefix: METHOD_PREFIX,
  title: "UnitySAMLAuthenticator (UNITY, UNITY-PASSWORD) and UnityOAuthAuthenticator (UNITY-OAUTH)",
  unknown: "warning",
  anyCase: true,
  keys: {
    class: METHOD_CLASS,
    address: url({ help: "Authentication service of the identity provider", schemes: ["https"] }),
    validate: flag({
      help: "Check the signature of assertions, see container.security.trustedAssertionIssuers",
      default: true,
    }),
    ...ASSIGNED,
    showCertificate: DO_TLS,
  },
  ignored: { identityAssign: "the assertion names the user" },
});

/** TLS client certificates, and names signed by a gateway (authentication.md 9). */
export const X509 = section({
  prefix: METHOD_PREFIX,
  title: "X509Authenticator: client certificates (X509)",
  unknown: "warning",
  anyCase: true,
  keys: { class: METHOD_CLASS },
});
