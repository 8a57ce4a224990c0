import type { Reservation } from "../reservations/reservation.ts";
import { isolated, type Markup, markup } from "./markup.ts";
import { size, when } from "./quantities.ts";
import { TEXTS } from "./texts.ts";

/** Returns name, times and effect of a reservation. @param now Milliseconds since the epoch. */
export function reservationInWords({ name, from, to, rateLimit }: Reservation, now: number): Markup {
  const { from: since, to: until, others } = TEXTS.home;
  const limit = rateLimit > 0 && markup`, ${others.with({ rate: markup`${size(rateLimit)}/s` })}`;
  return markup`${isolated(name)}: ${since} ${when(from, now)} ${until} ${when(to, now)}${limit}`;
}
