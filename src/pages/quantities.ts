import { type Markup, markup } from "./markup.ts";
import { TEXTS } from "./texts.ts";

const UNITS = ["B", "KiB", "MiB", "GiB", "TiB"];

/** Formats bytes in the largest unit that leaves a short number, such as `1.4 MiB`. */
export function size(bytes: number): string {
  let value = bytes;
  let unit = 0;
  // Avoids `1024.0 KiB` after rounding.
  while (Number(value.toFixed(1)) >= 1024 && unit < UNITS.length - 1) {
    value /= 1024;
    unit++;
  }
  return `${unit === 0 || value >= 100 ? Math.round(value) : Number(value.toFixed(1))} ${UNITS[unit]}`;
}

/** Formats an offset from UTC, such as `UTC+01:00`. @param minutes East of Greenwich. */
export function zone(minutes: number): string {
  if (minutes === 0) return "UTC";
  const two = (n: number) => String(Math.trunc(n)).padStart(2, "0");
  return `UTC${minutes < 0 ? "−" : "+"}${two(Math.abs(minutes) / 60)}:${two(Math.abs(minutes) % 60)}`;
}

/** Formats a time in the zone of the service. @param at Milliseconds since the epoch. */
export function moment(at: number): Markup {
  const east = -new Date(at).getTimezoneOffset();
  const local = new Date(at + east * 60_000).toISOString().slice(0, 16).replace("T", " ");
  return markup`<time datetime="${new Date(at).toISOString()}">${local} ${zone(east)}</time>`;
}

const STEPS = [[86_400, "day"], [3600, "hour"], [60, "minute"]] as const;

/** Formats a relative time, such as `in 3 days`. Both in milliseconds since the epoch. */
export function distance(at: number, now: number): string {
  const seconds = Math.abs(at - now) / 1000;
  // Rounds up a little: a new share of 7 days ends in 7 days, not in 6.
  const [length, unit] = STEPS.find(([length]) => seconds / length >= 0.95) ?? [60, "minute"];
  const steps = Math.floor(seconds / length + 0.05);
  return new Intl.RelativeTimeFormat(TEXTS.language, { numeric: "auto" })
    .format(at < now ? -steps : steps, unit);
}
