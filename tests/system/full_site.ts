import { revokedList } from "../authentication/ssh_key/certificate/certificates.ts";
import { publicLine } from "../authentication/ssh_key/user_keys.ts";
import { authenticatorProperties } from "./every_method.ts";
import { ALICE_DN, createSite, type Site } from "./running_service.ts";

const METHOD = "container.security.rest.authentication";

/** Creates a configuration that names a file of each kind. */
export async function createFullSite(): Promise<Site> {
  const site = await createSite({
    properties: {
      "$include.more": "{folder}/conf/more.properties",
      [`${METHOD}.order`]: "PASSWORD SSHKEY OAUTH",
      [`${METHOD}.SSHKEY.file`]: "{folder}/conf/keys.txt",
      [`${METHOD}.SSHKEY.certificateAuthorities`]: "{folder}/conf/authorities.txt",
      [`${METHOD}.SSHKEY.revokedKeys`]: "{folder}/conf/revoked.krl",
      "container.security.truststore.crlLocations.1": "{folder}/conf/ca.crl",
      ...authenticatorProperties("OAUTH", {
        class: "OAuthAuthenticator",
        address: "https://localhost:1/nobody-is-there",
        identityAssign: "sub",
        validate: "true",
        clientID: "uftp",
        clientAuthentication: "private_key_jwt",
        clientKey: "{folder}/conf/client-key.pem",
        acceptAnyAudience: "true",
      }),
      "container.security.rest.jwt.hmacSecretFile": "{folder}/conf/hmac-secret",
      "container.security.rest.jwt.trustedIssuerCert.1": "{folder}/conf/issuer.pem",
      "container.security.gateway.enable": "true",
      "container.security.gateway.trustedPeers": "10.0.0.0/8",
      "persistence.directory": "{folder}/data",
      "container.security.gateway.certificate": "{folder}/conf/gateway.pem",
      "authservice.server.HPC.reservations.enable": "true",
      "authservice.server.HPC.reservations.file": "{folder}/conf/reservations.json",
    },
    files: {
      "conf/more.properties": "container.drainSeconds=0\n",
      "conf/keys.txt": `alice:${publicLine("user_ed25519")}:${ALICE_DN}\n`,
      "conf/authorities.txt": `${publicLine("user_ecdsa256")}\n`,
      "conf/hmac-secret": `${"0123456789".repeat(10)}\n`,
      "conf/reservations.json": '{\n"reservations": []\n}\n',
    },
  });
  const certificate = site.authority.issue({ subject: "CN=Other,O=Demo,C=EU" }).certificate;
  await site.replace("conf/issuer.pem", certificate);
  await site.replace("conf/gateway.pem", certificate);
  await site.replace("conf/ca.crl", site.authority.revoke([]));
  await site.replace("conf/client-key.pem", site.authority.issue({ subject: "CN=client" }).key);
  await Deno.writeFile(`${site.folder}/conf/revoked.krl`, revokedList("key"));
  return site;
}

/** All files of the configuration below `conf/`. */
export const FILES = [
  "container.properties",
  "more.properties",
  "users.txt",
  "keys.txt",
  "authorities.txt",
  "mapfile.json",
  "reservations.json",
  "auth-cert.pem",
  "auth-key.pem",
  "ca.pem",
  "issuer.pem",
  "gateway.pem",
  "hmac-secret",
  "revoked.krl",
  "ca.crl",
  "client-key.pem",
];
