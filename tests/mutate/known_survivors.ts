/** A mutant that no test notices, and why that is well. */
export interface KnownSurvivor {
  readonly file: string;
  /** The line it is in, without the blanks around it. */
  readonly at: string;
  /** As the table of `deno task mutate` shows it. */
  readonly change: string;
  /** Whether it behaves like the original, as far as anybody could see: it does not count then. */
  readonly equivalent: boolean;
  readonly why: string;
}

export const KNOWN_SURVIVORS: readonly KnownSurvivor[] = [
  {
    file: "src/edge/connection_watch.ts",
    at: "const interval = Math.min(limits.silentMs, limits.keepAliveMs) / 4;",
    change: "4 → 5",
    equivalent: true,
    why: "connections are looked at a little more often; cuts come within what is promised",
  },
];
