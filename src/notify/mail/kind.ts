import { NEVER } from "../../outgoing/probed_kind.ts";
import { destinationKind } from "../destination.ts";
import { KEYS, read, relayOf } from "./keys.ts";

/** Mail to owners of shares, over the relay of the site. */
export const mail = destinationKind({
  name: "mail",
  title: "Notifications by mail",
  keys: KEYS,
  read,
  remotes: (config) => [{
    ...relayOf(config),
    async probe(parts) {
      const { Mail } = await import("./mail.ts");
      await new Mail(config, parts).probe(NEVER);
      return { ok: true, found: `takes mail from ${config.from}; nothing was sent` };
    },
  }],
  accepts: (_, { type, mailTo }) => type === "files.arrived" && mailTo !== undefined,
  async create(config, parts) {
    const { Mail } = await import("./mail.ts");
    return new Mail(config, parts);
  },
});
