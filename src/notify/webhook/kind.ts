import { type Infer, list, optional, secretText, url } from "../../config/key.ts";
import { isLocalHost, type Place } from "../../config/kind.ts";
import { REMOTE_FIX, statusOf } from "../../outgoing/probed_kind.ts";
import { destinationKind } from "../destination.ts";
import { EVENT_TYPES } from "../event.ts";
import { Webhook, webhookKeys } from "./webhook.ts";

const KEYS = {
  url: url({
    help: "Address that receives the events. http:// only for a receiver on this machine",
    schemes: ["https", "http"],
    added: true,
  }),
  secret: secretText({
    help:
      "Secret of the signatures, whsec_ and 24 to 64 bytes in base64. To replace it, list both secrets, separated by a blank",
    added: true,
  }),
  events: optional(list({ help: `Events to send: ${EVENT_TYPES.join(", ")}. If not set, all`, added: true })),
};

function read({ url: address, secret, events }: Infer<typeof KEYS>, { reader, prefix }: Place) {
  const { protocol, hostname } = new URL(address);
  if (protocol === "http:" && !isLocalHost(hostname)) {
    reader.error(`${prefix}url`, "expected https://, since the receiver is not on this machine", address);
  }
  if (webhookKeys(secret) === undefined) {
    reader.error(
      `${prefix}secret`,
      "expected whsec_ and 24 to 64 bytes in base64, or several, separated by blanks",
    );
  }
  const types: readonly string[] = EVENT_TYPES;
  const unknown = events?.filter((event) => !types.includes(event)) ?? [];
  if (unknown.length > 0) {
    reader.error(`${prefix}events`, `expected events out of ${types.join(", ")}`, unknown.join(" "));
  }
  return { address, secret, events };
}

/** Signed webhooks by the Standard Webhooks specification. */
export const webhook = destinationKind({
  name: "webhook",
  title: "Notifications by webhook",
  keys: KEYS,
  read,
  remotes: ({ address }) => [{
    address,
    label: "Webhook",
    showCertificate: false,
    async probe({ outgoing }) {
      const status = await statusOf(outgoing.http(false), address);
      const found = `answers GET with status ${status}; nothing was sent, so the secret is not tried`;
      return { ok: status < 500, found, fix: status < 500 ? undefined : REMOTE_FIX };
    },
  }],
  accepts: ({ events }, { type }) => events?.includes(type) ?? true,
  create({ address, secret }, { outgoing, clock }) {
    const keys = webhookKeys(secret) ?? [];
    return Promise.resolve(new Webhook({ address, keys, http: outgoing.http(false), clock }));
  },
});
