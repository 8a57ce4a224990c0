import { attempt } from "../../model/attempt.ts";
import { createHmac } from "node:crypto";
import { type Clock, epochSeconds } from "../../model/clock.ts";
import type { OutgoingHttp } from "../../outgoing/outgoing.ts";
import { RemoteUnavailable } from "../../outgoing/remote_unavailable.ts";
import { retryAfterSeconds } from "../../outgoing/remote_http.ts";
import type { Destination } from "../destination.ts";
import type { Notification } from "../event.ts";

/** Parses secrets, separated by blanks; undefined if one is malformed. */
export function webhookKeys(secret: string): readonly Uint8Array[] | undefined {
  const keys = secret.split(/\s+/).map((each) =>
    each.startsWith("whsec_")
      ? attempt(() => Uint8Array.fromBase64(each.slice("whsec_".length)), Error, () => undefined)
      : undefined
  );
  const fit = keys.filter((key) => key !== undefined && key.length >= 24 && key.length <= 64);
  return fit.length === keys.length ? keys.flatMap((key) => key ?? []) : undefined;
}

/** Receiver of webhooks as Standard Webhooks describes them. */
export class Webhook implements Destination {
  readonly name = "webhook";
  readonly host: string;

  /** @param parts.keys The receiver accepts a signature with any of them. */
  constructor(
    readonly parts: {
      readonly address: string;
      readonly keys: readonly Uint8Array[];
      readonly http: OutgoingHttp;
      readonly clock: Clock;
    },
  ) {
    this.host = new URL(parts.address).host;
  }

  async deliver([first]: readonly Notification[], signal: AbortSignal): Promise<void> {
    if (first === undefined) return;
    const { address, keys, http, clock } = this.parts;
    const { message, type, made, data } = first;
    const body = JSON.stringify({ type, timestamp: new Date(made).toISOString(), data });
    const timestamp = String(epochSeconds(clock));
    const signed = `${message}.${timestamp}.${body}`;
    const signatures = keys.map((key) => `v1,${createHmac("sha256", key).update(signed).digest("base64")}`);
    const response = await http.send({
      method: "POST",
      url: address,
      headers: {
        "Content-Type": "application/json",
        "webhook-id": message,
        "webhook-timestamp": timestamp,
        "webhook-signature": signatures.join(" "),
      },
      body,
      statusAlone: true,
    }, signal);
    const { status } = response;
    if (status >= 200 && status < 300) return;
    if (status < 500 && status !== 429) throw new Error(`unexpected status ${status}`);
    throw new RemoteUnavailable(this.host, `unexpected status ${status}`, {
      retryAfterSeconds: retryAfterSeconds(response, clock()),
      connected: true,
    });
  }
}
