import assert from "node:assert/strict";
import { refusalIn } from "../../src/authentication/provider_answers.ts";

type Endpoint = Parameters<typeof refusalIn>[0];

const FAULT = '<soap:Envelope xmlns:soap="x"><soap:Body><soap:Fault/></soap:Body></soap:Envelope>';
const error = (code: string) => JSON.stringify({ error: code });

/** Answers of providers, and whether they refuse the caller's credential. */
const ANSWERS: readonly [endpoint: Endpoint, what: string, status: number, body: string, refused: boolean][] =
  [
    ["saml", "Unity, a wrong password", 401, "", true],
    ["saml", "Unity, a refusal in SOAP", 500, FAULT, true],
    ["saml", "Keycloak, a wrong password", 401, "", true],
    ["saml", "Keycloak, an unknown user", 400, "<html>We are sorry</html>", true],
    ["saml", "a provider that forbids the user", 403, "", true],
    ["saml", "Jetty, a long password", 431, "", true],
    ["saml", "a proxy, a long password", 413, "", true],
    ["saml", "a provider with an internal error", 500, "<html>NullPointerException</html>", false],
    ["saml", "a wrong address", 404, "", false],
    ["saml", "a wrong method", 405, "", false],
    ["saml", "a limit", 429, "", false],
    ["saml", "a proxy without provider", 502, "", false],
    ["saml", "maintenance", 503, FAULT, false],
    ["saml", "a redirect", 302, "", false],
    ["userinfo", "Keycloak, a wrong token", 401, error("invalid_token"), true],
    ["userinfo", "a malformed token", 400, error("invalid_request"), true],
    ["userinfo", "a token without the scope", 403, error("insufficient_scope"), true],
    ["userinfo", "a long token", 431, "", true],
    ["userinfo", "Keycloak, a header that it cannot read", 500, "", false],
    ["userinfo", "a fault of another protocol", 500, FAULT, false],
    ["introspection", "a malformed token", 400, error("invalid_request"), true],
    ["introspection", "an invalid token", 400, error("invalid_token"), true],
    ["introspection", "a long token", 413, "", true],
    ["introspection", "a wrong client", 400, error("invalid_client"), false],
    ["introspection", "a wrong secret", 401, error("invalid_client"), false],
    ["introspection", "a client that may not introspect", 403, "", false],
    ["code", "an invalid code", 400, error("invalid_grant"), true],
    ["code", "a wrong redirect address or client", 400, error("invalid_request"), false],
    ["code", "a long request", 413, "", false],
    ["code", "a wrong secret", 401, error("unauthorized_client"), false],
  ];

for (const [endpoint, what, status, body, refused] of ANSWERS) {
  Deno.test(`refusalIn() finds ${refused ? "a" : "no"} refusal of the caller's credential: ${endpoint}, ${what}`, () => {
    assert.equal(refusalIn(endpoint, { status, headers: {}, body }) !== undefined, refused);
  });
}
