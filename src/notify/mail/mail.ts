import { Buffer } from "node:buffer";
import { isIP } from "node:net";
import { endpointOf } from "../../config/kind.ts";
import { unlessAborted } from "../../model/clock.ts";
import { isMailAddress } from "../../model/mail_address.ts";
import { counted, printable } from "../../model/text.ts";
import { connectionOver } from "../../outgoing/open_tls.ts";
import type { ProbeParts } from "../../outgoing/probed_kind.ts";
import { RemoteUnavailable } from "../../outgoing/remote_unavailable.ts";
import { type Destination, Undeliverable } from "../destination.ts";
import type { Notification } from "../event.ts";
import { type MailConfig, relayOf } from "./keys.ts";
import { SmtpConnection, SmtpRefusal } from "./smtp_connection.ts";

const MAX_NAMES = 50;

/** Mail over the relay of the site. */
export class Mail implements Destination {
  readonly name = "mail";
  readonly host: string;
  readonly batching = { quietMs: 60_000, maxMs: 900_000, maxCount: 1000 };

  constructor(readonly config: MailConfig, readonly parts: Omit<ProbeParts, "log">) {
    this.host = new URL(config.relay).host;
  }

  async deliver(notifications: readonly Notification[], signal: AbortSignal): Promise<void> {
    const to = notifications[0]?.mailTo ?? "";
    if (!isMailAddress(to)) throw new Undeliverable("the notification has no mail address");
    await this.#transact(signal, async (connection) => {
      try {
        await connection.command(`RCPT TO:<${to}>`);
        await connection.message(this.#message(notifications, to));
      } catch (error) {
        if (!(error instanceof SmtpRefusal) || error.code < 500) throw error;
        throw new Undeliverable(error.message, { cause: error });
      }
    });
  }

  /** Connects, logs in and names the sender, without a recipient. @throws {RemoteUnavailable} */
  async probe(signal: AbortSignal): Promise<void> {
    await this.#transact(signal, () => Promise.resolve());
  }

  /** Connects, logs in and names the sender before the work. */
  async #transact(signal: AbortSignal, work: (connection: SmtpConnection) => Promise<void>): Promise<void> {
    const { config: { from, user, password = "" }, parts: { outgoing, externalUrl } } = this;
    const remote = relayOf(this.config);
    const { host: hostname, port } = endpointOf(remote);
    const opened = remote.plain
      ? connectionOver(await Deno.connect({ hostname, port, signal }).catch(this.#unavailable))
      : await outgoing.connect(remote, signal);
    const connection = new SmtpConnection(opened);
    const handshake = async () => {
      if (remote.beforeTls === undefined || remote.plain) await connection.greeted();
      const own = new URL(externalUrl).hostname.replace(/^\[|\]$/g, "");
      const shown = isIP(own) === 0 ? own : `[${isIP(own) === 6 ? "IPv6:" : ""}${own}]`; // RFC 5321, 4.1.3
      await connection.command(`EHLO ${shown}`);
      if (user !== undefined) await connection.logIn(user, password);
      await connection.command(`MAIL FROM:<${from}>`);
    };
    try {
      await unlessAborted(handshake(), signal).catch(this.#unavailable);
      await unlessAborted(work(connection), signal);
      await unlessAborted(connection.command("QUIT"), signal).catch(() => {}); // accepted already
    } finally {
      connection.close();
    }
  }

  readonly #unavailable = (cause: unknown): never => {
    const reason = cause instanceof Error ? cause.message : "no answer";
    throw new RemoteUnavailable(this.host, reason, { cause, connected: true });
  };

  /** Returns the lines of a message whose header has no text from others. */
  #message(notifications: readonly Notification[], to: string): readonly string[] {
    const { config: { from }, parts: { clock, externalUrl } } = this;
    const count = counted(notifications.length, "file has arrived", "files have arrived");
    const files = notifications.slice(0, MAX_NAMES).map(({ data: { name, bytes } }) =>
      `  ${printable(String(name))} (${counted(Number(bytes), "byte", "bytes")})`
    );
    const { path, server } = notifications[0]?.data ?? {};
    const text = [
      `${count} in ${printable(String(path))} on ${printable(String(server))}:`,
      "",
      ...files,
      ...(notifications.length > MAX_NAMES ? [`  and ${notifications.length - MAX_NAMES} more`] : []),
      "",
      "You asked for this mail when you shared the directory. To get no more, change the share:",
      `${externalUrl}/shares`,
      "",
    ].join("\r\n");
    return [
      `From: <${from}>`,
      `To: <${to}>`,
      `Subject: ${count}`,
      `Date: ${new Date(clock()).toUTCString().replace("GMT", "+0000")}`,
      `Message-ID: <${notifications[0]?.message}@${from.split("@")[1]}>`,
      "Auto-Submitted: auto-generated",
      "MIME-Version: 1.0",
      "Content-Type: text/plain; charset=utf-8",
      "Content-Transfer-Encoding: base64",
      "",
      ...Buffer.from(text).toString("base64").match(/.{1,76}/g) ?? [],
    ];
  }
}
