/** Sessions and tokens from a login by client certificate last exactly as long as its connections. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, TLSSocket } from "node:tls";
import { x509 } from "../../src/authentication/x509.ts";
import { clientCertificate, tlsServerOptions } from "../../src/edge/tls_server_options.ts";
import type { Revocation } from "../../src/model/trust/revocation.ts";
import { openTls } from "../edge/tls_client.ts";
import { inTime } from "../fixtures/deadline.ts";
import { createAuthority, type Credential } from "../pki/authority.ts";
import { NO_CREDENTIALS } from "./sample_credentials.ts";

const AT = Date.UTC(2027, 0, 1);
const subject = "CN=Ann Example,O=Site-A,C=DE";
const year = (year: number) => ({ notAfter: new Date(Date.UTC(year, 0, 1)) });

const root = createAuthority({ subject: "CN=Root", ...year(2031) });
const upper = root.subordinate({ subject: "CN=Upper", ...year(2030) });
const lower = upper.subordinate({ subject: "CN=Lower", ...year(2029) });
const direct = root.issue({ subject, ...year(2032) });
const issued = lower.issue({ subject, ...year(2032) });
const below = { ...issued, certificate: issued.certificate + lower.certificate + upper.certificate };
const itself = createAuthority({ subject, ca: false, ...year(2032) });
const single = root.issue({ subject: "CN=Bob,O=Site-A,C=DE", ...year(2032) });

const OWN = {
  ...root.issue({ subject: "CN=localhost", names: ["localhost"] }),
  minVersion: "TLSv1.2",
} as const;
const TLS = { ...OWN, maxVersion: "TLSv1.3", clientCertificate: "requested" } as const;
const ANCHORS = [root, itself, single].map(({ certificate }) => certificate);
const RENEWED = [root.renewed(year(2040)), itself.certificate, single.certificate];

const lists = (mode: Revocation["mode"], ...pems: readonly string[]) => ({
  revocation: { mode, lists: pems.map((pem) => pem.replaceAll(/-----.*-----|\s/g, "")) },
});
const ALL = [root.revoke([]), upper.revoke([]), lower.revoke([])];

interface Later {
  readonly anchors?: readonly string[];
  readonly revocation?: Revocation;
  readonly at?: number;
}

const CASES: readonly (readonly [what: string, client: Credential, later: Later, lasts: boolean])[] = [
  ["nothing changed", below, {}, true],
  ["it was revoked", below, lists("IF_VALID", lower.revoke([issued.certificate])), false],
  ["its authority was revoked", below, lists("IF_VALID", upper.revoke([lower.certificate])), false],
  ["an authority further up was revoked", below, lists("IF_VALID", root.revoke([upper.certificate])), false],
  ["others were revoked", below, lists("IF_VALID", root.revoke([lower.certificate])), true],
  ["all lists are present", below, lists("REQUIRE", ...ALL), true],
  ["the list of an authority further up is missing", below, lists("REQUIRE", ...ALL.slice(1)), false],
  ["its authority has expired", below, { at: Date.UTC(2029, 6) }, false],
  ["its authority is in its last second", below, { at: Date.UTC(2029, 0) }, true],
  ["the trusted authority has expired", direct, { at: Date.UTC(2031, 6) }, false],
  ["the trusted authority was renewed", direct, { at: Date.UTC(2031, 6), anchors: RENEWED }, true],
  ["the trusted authority was removed", below, { anchors: RENEWED.slice(1) }, false],
  ["it is itself trusted", itself, {}, true],
  ["it is itself trusted, and lists are required", itself, lists("REQUIRE"), true],
  [
    "it is itself trusted, and revoked",
    single,
    lists("IF_VALID", root.revoke([single.certificate])),
    true,
  ],
  ["it is itself trusted, and has expired", itself, { at: Date.UTC(2032, 6) }, false],
  ["it is itself no longer trusted", itself, { anchors: [root.certificate] }, false],
];

/** Presents a certificate to a server. */
async function shown(client: Credential): Promise<TLSSocket> {
  const server = createServer(tlsServerOptions({ ...TLS, anchors: ANCHORS })).listen(0, "127.0.0.1");
  await inTime(once(server, "listening"), "the server");
  const address = server.address();
  assert.ok(typeof address === "object" && address !== null);
  const accepted = once(server, "secureConnection");
  const socket = await openTls(address.port, { cert: client.certificate, key: client.key });
  const [connection] = await inTime(accepted, "the connection");
  assert.ok(connection instanceof TLSSocket);
  connection.once("close", () => server.close());
  socket.once("close", () => connection.destroy());
  connection.once("close", () => socket.destroy());
  return connection;
}

for (const [what, client, { anchors = ANCHORS, revocation, at = AT }, lasts] of CASES) {
  Deno.test(`x509() ${lasts ? "keeps" : "ends"} sessions and tokens, as it does connections: ${what}`, async () => {
    const socket = await shown(client);
    const closed = once(socket, "close");
    try {
      const { certificate } = clientCertificate(socket, { anchors: ANCHORS }, AT) ?? {};
      const method = x509({
        name: "X509",
        gateway: undefined,
        serverName: () => "CN=auth",
        clock: () => at,
        clientTrust: () => ({ anchors, revocation }),
        derivedLifetime: undefined,
      });
      const { signal } = new AbortController();
      const login = await method.authenticate({ ...NO_CREDENTIALS, certificate }, signal);
      assert.ok(login.kind === "accepted");
      const later = clientCertificate(socket, { anchors, revocation }, at);
      assert.equal(later?.certificate !== undefined, lasts, "the connection");
      const status = await method.accountStatusOf?.(login.identity, signal);
      assert.equal(status?.kind, lasts ? "cannot tell" : "gone", "what was derived");
    } finally {
      socket.destroy();
      await inTime(closed, "the end of the connection");
    }
  });
}
