import { CLIENT } from "./keys/client_keys.ts";
import { BROWSERS, GATEWAY, ISSUED_TOKENS, SECURITY, THROTTLING } from "./keys/security_keys.ts";
import { readerOf } from "./section_reader.ts";

/** Reads TLS, access rules and aliases (rest-api.md 3.5). */
export const readSecurity = readerOf(SECURITY, (keys, reader) => {
  const { tls, accessControl, pdp, additionalServiceIdentifiers } = keys;
  if (!tls) {
    reader.warn("container.security.sslEnabled", "passwords travel unencrypted, for tests only", "false");
  }
  if (!accessControl) {
    reader.warn("container.security.accesscontrol", "everybody may do everything, for tests only", "false");
  }
  if (pdp === "AcceptingPdp") {
    const expected =
      "the built-in rules are used; to permit everything, set container.security.accesscontrol=false";
    reader.warn("container.security.accesscontrol.pdp", expected, pdp);
  }
  return {
    tls,
    accessControl: { enabled: accessControl },
    additionalServiceIdentifiers: additionalServiceIdentifiers.map(({ value }) => value),
  };
});

const JAVAS = ["container.security.sessionsEnabled", "container.client.digitalSigningEnabled"];

/** Reads the gateway (credentials.md 9). */
export const readGateway = readerOf(GATEWAY, (keys, reader) => {
  const enable = "container.security.gateway.enable";
  if (keys.enabled && keys.trustedPeers.length === 0) {
    const expected =
      "expected container.security.gateway.trustedPeers too, without which the service accepts no gateway headers; or false, if there is no gateway";
    reader.warn(enable, expected, "true");
  }
  const javas = reader.entry(enable) === undefined && JAVAS.find((key) => reader.entry(key) !== undefined);
  if (javas) {
    reader.warn(
      javas,
      `a key of the Java service, where ${enable} is true by default; in this service it is false`,
    );
  }
  if (keys.enabled && keys.certificate !== undefined) {
    reader.expectFile("container.security.gateway.certificate", keys.certificate);
  }
  return { gateway: keys };
});

/** Reads token settings (credentials.md 4). */
export const readIssuedTokens = readerOf(ISSUED_TOKENS, (keys, reader) => {
  const { trustedIssuerCert, trustedLocalIssuer, ...rest } = keys;
  const { lifetimeSeconds: lifetime, maxLifetimeSeconds } = rest;
  const lifetimeSeconds = Math.min(lifetime, maxLifetimeSeconds);
  if (lifetime > maxLifetimeSeconds) {
    const expected = `more than container.security.rest.jwt.maxLifetime: ${lifetimeSeconds} seconds hold`;
    reader.warn("container.security.rest.jwt.lifetime", expected, String(lifetime));
  }
  for (const [key, files] of Object.entries({ trustedIssuerCert, trustedLocalIssuer })) {
    for (const { name, value } of files) reader.expectFile(`${ISSUED_TOKENS.prefix}${key}.${name}`, value);
  }
  const trustedIssuerFiles = [...trustedIssuerCert, ...trustedLocalIssuer].map(({ value }) => value);
  return { issuedTokens: { ...rest, lifetimeSeconds, trustedIssuerFiles } };
});

/** Reads browser sign-in settings. */
export const readBrowsers = readerOf(BROWSERS, (keys, reader) => {
  if (keys.idleSeconds > keys.maxSeconds) {
    const expected = `expected at most ${BROWSERS.prefix}maxTime, which is ${keys.maxSeconds}`;
    reader.error(`${BROWSERS.prefix}idleTime`, expected, String(keys.idleSeconds));
  }
  return { browsers: keys };
});

/** Reads login throttling settings. */
export const readThrottling = readerOf(THROTTLING, (keys, reader) => {
  if (keys.baseDelaySeconds > keys.maxDelaySeconds) {
    const expected =
      `expected at most container.security.throttling.maxDelay, which is ${keys.maxDelaySeconds}`;
    reader.error("container.security.throttling.baseDelay", expected, String(keys.baseDelaySeconds));
  }
  return { throttling: keys };
});

/** Reads settings of outgoing connections (credentials.md 5.1). */
export const readOutgoing = readerOf(CLIENT, (keys, reader) => {
  if (keys.hostnameChecking !== "FAIL") {
    const expected =
      "any server with a certificate of a trusted authority can pose as your identity provider, expected FAIL";
    reader.warn("container.client.serverHostnameChecking", expected, keys.hostnameChecking);
  }
  const { proxyHost, proxyPort, proxyType: _, proxyUser, proxyPassword, nonProxyHosts, ...rest } = keys;
  const prefix = "container.client.http.";
  const proxy = proxyHost !== undefined && proxyPort !== undefined
    ? { host: proxyHost, port: proxyPort, user: proxyUser, password: proxyPassword, direct: nonProxyHosts }
    : undefined;
  if ((proxyHost === undefined) !== (proxyPort === undefined)) {
    const [given, missing] = proxyHost === undefined
      ? ["proxyPort", "proxyHost"]
      : ["proxyHost", "proxyPort"];
    reader.error(prefix + given, `expected ${prefix}${missing} too`, String(proxyHost ?? proxyPort));
  }
  if (proxyUser?.includes(":")) {
    reader.error(`${prefix}proxy.user`, "expected a name without colon (RFC 7617)", proxyUser);
  }
  return { outgoing: { ...rest, proxy } };
});
