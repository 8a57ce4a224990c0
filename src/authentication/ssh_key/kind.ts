import { distinguishedName, flag, integer, optional, path } from "../../config/key.ts";
import { authenticatorKind } from "../authenticator_kind.ts";

/** SSH keys (specification 2.6). */
export const sshKey = authenticatorKind({
  title: "SSHKeyAuthenticator: SSH keys (SSHKEY)",
  classes: { SSHKeyAuthenticator: { names: ["SSHKEY"] } },
  keys: {
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
  read(values, { reader, prefix }) {
    if (values.file !== undefined) reader.expectFile(`${prefix}file`, values.file);
    else if (!values.useAuthorizedKeys) {
      const expected = `expected ${prefix}file too, there are no keys otherwise`;
      reader.error(`${prefix}useAuthorizedKeys`, expected, "false");
    }
    if (values.legacyToken) {
      const expected = "who has seen such a token can use it again, expected false";
      reader.warn(`${prefix}legacyToken`, expected, "true");
    }
    return values;
  },
  files: ({ file }) => file === undefined ? [] : [file],
  inspect: async (config) => (await import("./inspect.ts")).inspectKeys(config),
  async create(
    {
      name,
      file,
      dnTemplate,
      useAuthorizedKeys,
      updateIntervalSeconds,
      legacyToken,
      maxTokenLifetimeSeconds,
    },
    { keySources, serverName, now: clock, log },
  ) {
    const made = await import("./ssh_key.ts");
    return await made.sshKey({
      name,
      file,
      dnTemplate,
      sources: useAuthorizedKeys ? keySources : [],
      times: { updateMs: updateIntervalSeconds * 1000 },
      maxLifetime: maxTokenLifetimeSeconds,
      legacyToken,
      serverName,
      clock,
      log,
    });
  },
});
