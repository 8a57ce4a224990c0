import type { Clock } from "../model/clock.ts";
import type { Caller } from "../model/identity.ts";
import type { ClusterHealth } from "./health.ts";

/** Facts about the service in `GET /rest/auth`. */
export interface ServiceFacts {
  readonly siteName: string;
  readonly version: string;
  readonly upSince: number;
  readonly credential: () =>
    | { readonly dn: string; readonly issuer: string; readonly expires: number }
    | undefined;
  readonly trustedCAs: () => readonly string[];
  readonly trustedSAMLIssuers: () => readonly string[];
  /** State `OK`, `DOWN` or `UNKNOWN` by connection. */
  readonly externalConnections: () => Readonly<Record<string, string>>;
  readonly methods: ReadonlyMap<string, string>; // names for users by `Identity.method`
  readonly cluster: (() => ClusterHealth) | undefined; // absent for a single instance
  readonly clock: Clock;
}

/** Service section of `GET /rest/auth` as JSON text, cached for a second: it is nearly half of an answer. */
export class ServiceSection {
  #made = { second: NaN, text: "" };

  constructor(readonly facts: ServiceFacts) {}

  /** Unknown callers learn only the site's name and the time. */
  textFor(caller: Caller): string {
    const { siteName, clock } = this.facts;
    const at = clock();
    if (caller.kind === "anonymous") return asMember({ siteName, currentTime: timestamp(at) });
    const second = Math.floor(at / 1000);
    if (second !== this.#made.second) this.#made = { second, text: asMember(this.#about(at)) };
    return this.#made.text;
  }

  #about(at: number) {
    const { siteName, version, upSince, credential, trustedCAs, trustedSAMLIssuers, externalConnections } =
      this.facts;
    const own = credential();
    return {
      siteName,
      version,
      upSince: timestamp(upSince),
      currentTime: timestamp(at),
      credential: own && { dn: own.dn, issuer: own.issuer, expires: timestamp(own.expires) },
      trustedCAs: trustedCAs(),
      trustedSAMLIssuers: trustedSAMLIssuers(),
      externalConnections: externalConnections(),
    };
  }
}

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
