/** Whom a ban concerns: a user, an address (IPv6: its /64), or a user at an address. */
export interface BanSubject {
  readonly user?: string;
  readonly address?: string;
  /** Of a ban by hand: the user's names in comparable form, by which other credentials name them once verified. */
  readonly names?: readonly string[];
}

/** Somebody who has to wait. */
export interface Ban extends BanSubject {
  /** `operator`: imposed by hand; else by failed passwords, or failed tokens and keys. */
  readonly reason: "passwords" | "tokens" | "operator";
  /** Of a ban by hand: other instances of the service are still to be told of it. Default false. */
  readonly untold?: boolean;
  /** Failures counted; 0 for bans by hand. */
  readonly failures: number;
  /** Milliseconds since the epoch. */
  readonly until: number;
}
