import assert from "node:assert/strict";
import { X509Certificate } from "node:crypto";
import { connect, createServer, type TLSSocket } from "node:tls";
import { once } from "node:events";
import { createAuthority, type Credential } from "./authority.ts";
import type { KeyType } from "./signing_key.ts";

const KEY_TYPES: readonly KeyType[] = ["ec-p256", "rsa-2048", "ed25519"];
const ca = createAuthority({ subject: "CN=Test CA,O=UNICORE,C=EU" });

for (const keyType of KEY_TYPES) {
  Deno.test(`issue() issues a ${keyType} certificate that its authority verifies`, () => {
    const authority = createAuthority({ subject: "CN=CA", keyType });
    const { certificate } = authority.issue({ subject: "CN=leaf", keyType });
    const [leaf, root] = [new X509Certificate(certificate), new X509Certificate(authority.certificate)];
    assert.equal(leaf.checkIssued(root), true);
    assert.equal(leaf.verify(root.publicKey), true);
    assert.equal(root.ca, true);
    assert.equal(leaf.ca, false);
  });
}

Deno.test("impostor() issues certificates with the same issuer name that the true key does not verify", () => {
  const root = new X509Certificate(ca.certificate);
  const leaf = new X509Certificate(ca.impostor().issue({ subject: "CN=x" }).certificate);
  assert.equal(leaf.issuer, root.subject);
  assert.equal(leaf.verify(root.publicKey), false);
});

Deno.test("subordinate() and its impostor chain to the authority", () => {
  const middle = ca.subordinate({ subject: "CN=Middle" });
  const leaf = new X509Certificate(middle.issue({ subject: "CN=leaf" }).certificate);
  const [root, between] = [new X509Certificate(ca.certificate), new X509Certificate(middle.certificate)];
  assert.equal(leaf.verify(between.publicKey), true);
  assert.equal(between.verify(root.publicKey), true);
  const other = new X509Certificate(middle.impostor().certificate);
  assert.equal(other.verify(root.publicKey), true);
  assert.equal(leaf.verify(other.publicKey), false);
});

Deno.test("issue() writes the requested names, dates and subject", () => {
  const certificate = new X509Certificate(
    ca.issue({
      subject: "emailAddress=a@b.org,CN=Döe\\, J\\c3\\b6+UID=7,OU=one,OU=two,DC=x,C=EU",
      names: ["localhost", "127.0.0.1", "::1", "::ffff:192.0.2.1", "2001:db8::5"],
      notBefore: new Date("2021-02-03T04:05:06Z"),
      notAfter: new Date("2060-01-01T00:00:00Z"),
      extendedKeyUsage: ["serverAuth", "clientAuth"],
    }).certificate,
  );
  assert.equal(certificate.validFrom, "Feb  3 04:05:06 2021 GMT");
  assert.equal(certificate.validTo, "Jan  1 00:00:00 2060 GMT");
  for (const name of ["127.0.0.1", "::1", "2001:db8::5"]) {
    assert.match(String(certificate.subjectAltName), /localhost/);
    assert.notEqual(certificate.checkIP(name), undefined, name);
  }
  const lines = certificate.subject.split("\n");
  assert.deepEqual(lines.map((line) => line.split("=")[0]).filter((type) => type === "OU").length, 2);
  assert.match(certificate.subject, /Döe/);
});

Deno.test("issue() refuses a subject that it cannot encode", () => {
  for (const subject of ["CN", "=x", "FOO=bar", "CN=a,,C=EU"]) {
    assert.throws(() => ca.issue({ subject }), SyntaxError, subject);
  }
});

async function handshake(server: Credential, client: Credential): Promise<string> {
  const listener = createServer({
    cert: server.certificate,
    key: server.key,
    ca: [ca.certificate],
    requestCert: true,
    rejectUnauthorized: true,
  }, (socket: TLSSocket) => socket.end(String(socket.getPeerCertificate().subject.CN)));
  listener.listen(0, "127.0.0.1");
  await once(listener, "listening");
  const address = listener.address();
  if (address === null || typeof address === "string") throw new TypeError("Expected a TCP address");
  const socket = connect({
    host: "127.0.0.1",
    port: address.port,
    ca: [ca.certificate],
    cert: client.certificate,
    key: client.key,
    checkServerIdentity: () => undefined,
  });
  try {
    let text = "";
    for await (const chunk of socket) text += chunk;
    return text;
  } finally {
    socket.destroy();
    listener.close();
    await once(listener, "close");
  }
}

for (const keyType of KEY_TYPES) {
  Deno.test(`a ${keyType} pair of certificates works on both sides of a TLS connection`, async () => {
    const server = ca.issue({ subject: "CN=UFTPD", keyType, names: ["localhost"] });
    const client = ca.issue({ subject: "CN=AUTH,O=UNICORE", keyType });
    assert.equal(await handshake(server, client), "AUTH");
  });
}

Deno.test("a TLS client refuses an expired or forged server certificate", async () => {
  const client = ca.issue({ subject: "CN=AUTH" });
  const expired = ca.issue({ subject: "CN=UFTPD", notAfter: new Date("2021-01-01T00:00:00Z") });
  await assert.rejects(handshake(expired, client));
  await assert.rejects(handshake(ca.impostor().issue({ subject: "CN=UFTPD" }), client));
});
