import { flag, integer } from "../config/key.ts";

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
export const DERIVED_LIFETIME = integer({
  help: "Maximum lifetime of browser sessions and tokens of this service from such a login; 0 disables both",
  unit: "seconds",
  max: 30 * 86_400,
  default: DERIVED_S,
  added: true,
});
