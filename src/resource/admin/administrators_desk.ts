import type { Ban, BanSubject, Failure } from "../../throttling/ban.ts";
import type { RegisteredInstance } from "../../instances/instance_register.ts";
import type { RemoteStatus } from "../../outgoing/remote_system.ts";

/** What administrators can see and do by page that others cannot: as the operator at the command line. */
export interface AdministratorsDesk {
  status(): Promise<DeskStatus>;
  /** Who has to wait; more than are listed, if they are very many. */
  bans(): Promise<{ readonly bans: readonly Ban[]; readonly total: number }>;
  /** The latest of them. */
  failures(): readonly Failure[];
  /** A name that was typed as it can be shown: what is no user's name may be a password. */
  shown(user: string): string;
  /** @param until Milliseconds since the epoch. */
  ban(subject: BanSubject, until: number): Promise<void>;
  /** Names, in canonical DN, of the user that this word stands for. */
  namesOf(user: string): Promise<readonly string[]>;
  /** @returns How many bans and counts of failed logins there were. */
  lift(subject: BanSubject): Promise<number>;
}

/** How the service is, besides its servers. */
export interface DeskStatus {
  /** Systems that authenticators use. */
  readonly providers: readonly ({ readonly authenticator: string } & RemoteStatus)[];
  /** Own certificate; absent without one. */
  readonly certificate?: { readonly dn: string; readonly expires: number };
  /** Absent without data sharing. */
  readonly shares?: number;
  /** The instances that are one service; absent: this one is alone. */
  readonly cluster?: { readonly instances: readonly RegisteredInstance[] };
}
