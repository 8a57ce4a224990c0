import type { Clock } from "../model/clock.ts";
import type { Caller } from "../model/identity.ts";
import type { ClusterHealth } from "./health.ts";

/** What `GET /rest/auth` says about the service itself. */
export interface ServiceFacts {
  readonly siteName: string;
  readonly version: string;
  /** Milliseconds since the epoch. */
  readonly upSince: number;
  /** Own certificate; absent without one. */
  readonly credential: () =>
    | { readonly dn: string; readonly issuer: string; readonly expires: number }
    | undefined;
  /** Subjects of the trust anchors. */
  readonly trustedCAs: () => readonly string[];
  readonly trustedSAMLIssuers: () => readonly string[];
  /** Name of a connection to its state: `OK`, `DOWN` or `UNKNOWN`. */
  readonly externalConnections: () => Readonly<Record<string, string>>;
  /** Base of links that was made up of host and port: clients may know the service by another. Absent: one is configured. */
  readonly supposedUrl: string | undefined;
  /** The instances that are one service; absent: this one is alone. */
  readonly cluster: (() => ClusterHealth) | undefined;
  /** Milliseconds since the epoch. */
  readonly clock: Clock;
}

/**
 * The part of `GET /rest/auth` that is about the service itself, as JSON text for its place there. It names the moment
 * for which it holds, in seconds, and is made once for each: it is nearly half of the text of an answer.
 */
export class ServiceSection {
  readonly #facts: ServiceFacts;
  #made = { second: NaN, text: "" };

  constructor(facts: ServiceFacts) {
    this.#facts = facts;
  }

  /** Callers that nobody knows learn the site's name and the time, and no more. */
  textFor(caller: Caller): string {
    const { siteName, clock } = this.#facts;
    const at = clock();
    if (caller.kind === "anonymous") return asMember({ siteName, currentTime: timestamp(at) });
    const second = Math.floor(at / 1000);
    if (second !== this.#made.second) this.#made = { second, text: asMember(this.#about(at)) };
    return this.#made.text;
  }

  #about(at: number) {
    const { siteName, version, upSince, credential, trustedCAs, trustedSAMLIssuers, externalConnections } =
      this.#facts;
    const own = credential();
    return {
      siteName,
      version,
      upSince: timestamp(upSince),
      currentTime: timestamp(at),
      credential: own && { ...own, expires: timestamp(own.expires) },
      trustedCAs: trustedCAs(),
      trustedSAMLIssuers: trustedSAMLIssuers(),
      externalConnections: externalConnections(),
    };
  }
}

/** As it stands in an object that is indented by two blanks. */
function asMember(value: unknown): string {
  return JSON.stringify(value, undefined, 2).replaceAll("\n", "\n  ");
}

/** `2026-01-05T09:15:00+0100`: local time, offset without colon. */
function timestamp(at: number): string {
  const offset = -new Date(at).getTimezoneOffset();
  const local = new Date(at + offset * 60_000).toISOString().slice(0, 19);
  const two = (n: number) => String(Math.trunc(n)).padStart(2, "0");
  return `${local}${offset < 0 ? "-" : "+"}${two(Math.abs(offset) / 60)}${two(Math.abs(offset) % 60)}`;
}
