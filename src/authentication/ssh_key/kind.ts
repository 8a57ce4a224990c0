import { distinguishedName, flag, oneOf, optional, path, seconds } from "../../config/key.ts";
import type { Place } from "../../config/kind.ts";
import { hasPersistence } from "../../config/read_persistence.ts";
import { authenticatorKind } from "../authenticator_kind.ts";

/** SSH keys (specification 2.6). */
export const sshKey = authenticatorKind({
  title: "SSHKeyAuthenticator: SSH keys (SSHKEY)",
  keys: {
    file: optional(
      path({
        help: "Keys file with lines user:key:DN; for users in the file, the service ignores other keys",
      }),
    ),
    dnTemplate: distinguishedName({
      help: "Template for the names of users whose key comes from a daemon; %s is the user name",
      placeholder: "%s",
      default: "CN=%s, OU=ssh-local-users",
    }),
    useAuthorizedKeys: flag({ help: "Look up users' authorized_keys at the daemons", default: true }),
    updateIntervalSeconds: seconds({
      name: "updateInterval",
      help: "Cache time for these keys",
      default: 600,
      min: 1,
      zero: "a request for each login",
    }),
    certificateAuthorities: optional(path({
      help: "Trusted authorities for OpenSSH certificates: one public key per line, with options before it",
      added: true,
    })),
    revokedKeys: optional(path({
      help:
        "Revoked keys and certificates: a key revocation list (ssh-keygen -k), or one public key per line",
      added: true,
    })),
    certificateIdentity: optional(distinguishedName({
      help:
        "Template for the names of users with a certificate; %principal% is the user name. If not set, as for other keys",
      placeholder: "%principal%",
      added: true,
    })),
    only: optional(oneOf(["certificates"], { help: "Accept only keys with a certificate", added: true })),
    legacyToken: flag({
      help: "Accept the token of Java clients up to 2.2.2; anyone who has seen such a token can replay it",
      default: false,
      added: true,
    }),
    maxTokenLifetimeSeconds: seconds({
      name: "maxTokenLifetime",
      help: "Maximum remaining lifetime of a token",
      default: 86_400,
      min: 1,
      added: true,
    }),
  },
  ignored: {
    identityAssign: "the name comes from the keys file or from dnTemplate",
    userInfo: "keys come from the keys file and the daemons only",
  },
  read(values, { reader, prefix }) {
    if (values.file !== undefined) reader.expectFile(`${prefix}file`, values.file);
    else if (!values.useAuthorizedKeys && values.certificateAuthorities === undefined) {
      const expected = `expected ${prefix}file too, there are no keys otherwise`;
      reader.error(`${prefix}useAuthorizedKeys`, expected, "false");
    }
    for (const key of ["certificateAuthorities", "revokedKeys"] as const) {
      if (values[key] !== undefined) reader.expectFile(`${prefix}${key}`, values[key]);
    }
    checkCertificates(values, { reader, prefix });
    if (values.legacyToken) {
      const expected = "who has seen such a token can use it again, expected false";
      reader.warn(`${prefix}legacyToken`, expected, "true");
    }
    return values;
  },
  methods: { SSHKEY: "SSH key" },
  files: ({ file, certificateAuthorities, revokedKeys }) =>
    [file, certificateAuthorities, revokedKeys].filter((path) => path !== undefined),
  inspect: async (config) => (await import("./keys_file.ts")).inspectKeys(config),
  async create(config, { keySources, serverName, records, clock, log }) {
    const { sshKey } = await import("./ssh_key.ts");
    const { certificateAuthorities: authorities, revokedKeys: revoked, certificateIdentity: identity } =
      config;
    return await sshKey({
      ...config,
      sources: config.useAuthorizedKeys ? keySources : [],
      times: { updateMs: config.updateIntervalSeconds * 1000 },
      maxLifetime: config.maxTokenLifetimeSeconds,
      certificates: { authorities, revoked, identity, only: config.only !== undefined, records },
      serverName,
      clock,
      log,
    });
  },
});

function checkCertificates(
  { certificateAuthorities, certificateIdentity, only }: Readonly<
    Record<"certificateAuthorities" | "certificateIdentity" | "only", string | undefined>
  >,
  { reader, prefix }: Pick<Place, "reader" | "prefix">,
): void {
  if (certificateAuthorities === undefined) {
    const expected =
      `expected ${prefix}certificateAuthorities too, without which the service accepts no certificate`;
    for (const [key, value] of Object.entries({ certificateIdentity, only })) {
      if (value !== undefined) reader.error(prefix + key, expected, value);
    }
  } else if (!hasPersistence(reader)) {
    const expected = "expected persistence.directory too, where certificates are kept until they end";
    reader.error(`${prefix}certificateAuthorities`, expected, certificateAuthorities);
  }
}
