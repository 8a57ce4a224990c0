import { CLIENT, startOidcProvider } from "../identity_provider/oidc_provider.ts";
import { startUnityProvider } from "../identity_provider/unity_provider.ts";
import { createAuthority } from "../pki/authority.ts";
import { signToken } from "../authentication/sign_token.ts";
import { privateKey, publicLine } from "../authentication/ssh_key/user_keys.ts";
import { ALICE_DN, runService } from "./running_service.ts";

const EXTERNAL_URL = "https://auth.demo.example:9000/DEMO";

/** Returns the properties of one authentication method. */
export function authenticatorProperties(
  name: string,
  values: Readonly<Record<string, string>>,
): Record<string, string> {
  return Object.fromEntries(
    Object.entries(values).map((
      [key, value],
    ) => [`container.security.rest.authentication.${name}.${key}`, value]),
  );
}

/** Returns a token with which a client claims to be `user` (credentials.md 3.7). */
export function userToken(
  user: string,
  key: string,
  { header = { alg: "EdDSA" }, claims = {} }: {
    readonly header?: Readonly<Record<string, unknown>>;
    readonly claims?: Readonly<Record<string, unknown>>;
  } = {},
): string {
  const now = Math.floor(Date.now() / 1000);
  return signToken({
    header,
    claims: { sub: user, iss: user, iat: now, exp: now + 300, ...claims },
    key: privateKey(key),
  });
}

// Made once: an RSA key takes a quarter of a second.
const authority = createAuthority({ subject: "CN=Demo CA,O=Demo,C=EU" });
const tls = authority.issue({ subject: "CN=idp", names: ["localhost"] });
const signer = authority.issue({ subject: "CN=unity", keyType: "rsa-2048" });

/**
 * Starts a service with every authentication method, each with its own users; all providers are simulated.
 */
export async function runWithEveryMethod(properties: Readonly<Record<string, string>> = {}) {
  const oidc = await startOidcProvider(tls);
  const unity = await startUnityProvider({ tls, signer, url: EXTERNAL_URL, now: Date.now });
  const home = (name: string, uid: number, keys: string) => ({
    uid,
    home: `/home/${name}`,
    groups: ["users"],
    keyFiles: { ".ssh/authorized_keys": keys },
  });
  const system = await runService({
    authority,
    servers: {
      HPC: [{
        maxSessions: 1000,
        users: {
          dora: home("dora", 1001, `# mine\n${publicLine("user_rsa2048")}\n`),
          near: home("near", 1002, `from="127.0.0.0/8,::1" ${publicLine("user_ecdsa256")}\n`),
          far: home("far", 1003, `from="192.0.2.0/24" ${publicLine("user_ecdsa256")}\n`),
          late: home("late", 1004, `expiry-time="20200101" ${publicLine("user_ecdsa256")}\n`),
          forced: home("forced", 1005, `command="/bin/date" ${publicLine("user_ecdsa256")}\n`),
          signed: home("signed", 1006, `cert-authority ${publicLine("user_ecdsa256")}\n`),
          // The keys file has a line for her, so the service ignores this key.
          fay: home("fay", 1007, `${publicLine("user_ecdsa256")}\n`),
        },
      }],
      TWO: [{
        maxSessions: 1000,
        users: { dora: home("dora", 2001, `${publicLine("other_ed25519")}\n`), eve: home("eve", 2002, "") },
      }],
    },
    properties: {
      "container.externalurl": EXTERNAL_URL,
      "container.security.rest.authentication.order":
        "PASSWORD | SSHKEY, UNITY UNITY-OAUTH\tOAUTH || INTROSPECT X509",
      ...authenticatorProperties("SSHKEY", {
        class: "eu.unicore.uftp.authserver.authenticate.SSHKeyAuthenticator",
        file: "{folder}/conf/keys.txt",
      }),
      ...authenticatorProperties("UNITY", {
        class: "eu.unicore.services.rest.security.UnitySAMLAuthenticator",
        address: unity.address,
        uidAssign: "preferredUsername",
        groupsAssign: "memberOf",
      }),
      ...authenticatorProperties("UNITY-OAUTH", { address: unity.address, uidAssign: "preferredUsername" }),
      ...authenticatorProperties("OAUTH", {
        class: "org.example.OAuthAuthenticator",
        address: oidc.userinfo,
        identityAssign: '"UID="+email',
        uidAssign: "preferred_username",
        groupsAssign: '["hpc", "users"]',
      }),
      ...authenticatorProperties("INTROSPECT", {
        class: "OAuthAuthenticator",
        address: oidc.introspection,
        validate: "true",
        clientID: CLIENT.clientId,
        clientSecret: CLIENT.clientSecret.replaceAll("\\", "\\\\"),
        identityAssign: '"CN="+name',
        uidAssign: "login",
        roleAssign: "role",
      }),
      "container.security.trustedAssertionIssuers.type": "directory",
      "container.security.trustedAssertionIssuers.directoryLocations.1": "{folder}/conf/unity.pem",
      "container.httpServer.wantClientAuthn": "true",
      ...properties,
    },
    files: {
      "conf/keys.txt": `# keys\nalice:${publicLine("user_ed25519")}:${ALICE_DN}\n` +
        `alice:${publicLine("user_ecdsa256")}:${ALICE_DN}\n` +
        `alice:${publicLine("user_rsa3072")}:CN=Alice With Another Name,O=Demo,C=EU\n` +
        `fay:${publicLine("user_ed25519")}:CN=Fay,O=Demo,C=EU\n`,
      "conf/unity.pem": signer.certificate,
    },
  });
  oidc.tokens.set("userinfo-token", {
    email: "ann+x@site-a.example",
    preferred_username: "ann7",
    aud: "whoever",
  });
  return {
    system,
    authority,
    oidc,
    unity,
    async [Symbol.asyncDispose]() {
      await system[Symbol.asyncDispose]();
      await Promise.all([oidc[Symbol.asyncDispose](), unity[Symbol.asyncDispose]()]);
    },
  };
}
