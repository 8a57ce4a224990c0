import { flag, type Infer, optional, secretText, text, url } from "../../config/key.ts";
import { type ConfigRead, isLocalHost, type Place } from "../../config/kind.ts";
import { isMailAddress } from "../../model/mail_address.ts";
import type { ProbedRemote } from "../../outgoing/probed_kind.ts";

/** Configuration keys of mail. */
export const KEYS = {
  relay: url({
    help: "Mail relay of the site: smtps://, or smtp:// with StartTLS, such as smtp://mail.example.org:587",
    schemes: ["smtps", "smtp"],
    added: true,
  }),
  startTls: flag({
    help: "Encrypt connections to an smtp:// relay; false only for a relay on this machine",
    default: true,
    added: true,
  }),
  from: text({ help: "Address that mails come from, such as uftp@example.org", added: true }),
  user: optional(
    text({ help: "User name at the relay. If not set, the service does not log in", added: true }),
  ),
  password: optional(secretText({ help: "Password at the relay", added: true })),
};

export type MailConfig = ConfigRead<typeof read>;

/** Checks the values. */
export function read(values: Infer<typeof KEYS>, { reader, prefix }: Place) {
  const { relay, startTls, from, user, password } = values;
  const { protocol, hostname, pathname, search } = new URL(relay);
  if (pathname.length > 1 || search !== "") {
    reader.error(`${prefix}relay`, "expected an address such as smtp://mail.example.org:587", relay);
  }
  if (!startTls && (protocol !== "smtp:" || !isLocalHost(hostname))) {
    reader.error(`${prefix}startTls`, "expected true, since the relay is not on this machine", "false");
  }
  if (!isMailAddress(from)) {
    reader.error(`${prefix}from`, "expected an address such as uftp@example.org", from);
  }
  if ((user === undefined) !== (password === undefined)) {
    const [given, missing] = user === undefined ? ["password", "user"] : ["user", "password"];
    reader.error(`${prefix}${given}`, `expected ${prefix}${missing} too`);
  }
  return values;
}

/** Describes the relay: TLS from the start with `smtps`, by StartTLS with `smtp`. */
export function relayOf({ relay: address, startTls }: MailConfig): Omit<ProbedRemote, "probe"> {
  const isTls = new URL(address).protocol === "smtps:";
  return {
    address,
    defaultPort: isTls ? 465 : 25,
    label: "Mail",
    showCertificate: false,
    plain: !isTls && !startTls,
    beforeTls: isTls
      ? undefined
      : async (connection) =>
        await (await import("./smtp_connection.ts")).SmtpConnection.startTls(connection),
  };
}
