import { type Markup, markup } from "./markup.ts";
import { TEXTS } from "./texts.ts";

const UNITS = ["B", "KiB", "MiB", "GiB", "TiB"];

/** Bytes in the largest unit that leaves a short number, such as `1.4 MiB`; units count by 1024. */
export function size(bytes: number): string {
  let value = bytes;
  let unit = 0;
  // Not `1024.0 KiB`: what is shown counts.
  while (Number(value.toFixed(1)) >= 1024 && unit < UNITS.length - 1) {
    value /= 1024;
    unit++;
  }
  return `${unit === 0 || value >= 100 ? Math.round(value) : Number(value.toFixed(1))} ${UNITS[unit]}`;
}

/** A difference of time from local time to UTC, such as `UTC+01:00`. @param minutes East of Greenwich. */
export function zone(minutes: number): string {
  if (minutes === 0) return "UTC";
  const two = (n: number) => String(Math.trunc(n)).padStart(2, "0");
  return `UTC${minutes < 0 ? "−" : "+"}${two(Math.abs(minutes) / 60)}:${two(Math.abs(minutes) % 60)}`;
}

/** A moment by the service's clock, with its zone. @param at Milliseconds since the epoch. */
export function moment(at: number): Markup {
  const east = -new Date(at).getTimezoneOffset();
  const local = new Date(at + east * 60_000).toISOString().slice(0, 16).replace("T", " ");
  return markup`<time datetime="${new Date(at).toISOString()}">${local} ${zone(east)}</time>`;
}

const STEPS = [[86_400, "day"], [3600, "hour"], [60, "minute"]] as const;

/** How far away a moment is, such as `in 3 days` or `2 hours ago`. Both in milliseconds since the epoch. */
export function distance(at: number, now: number): string {
  const seconds = Math.abs(at - now) / 1000;
  // What lacks a little of a step counts as one: a share of 7 days ends in 7 days, and not in 6, once it is made.
  const [length, unit] = STEPS.find(([length]) => seconds / length >= 0.95) ?? [60, "minute"];
  const steps = Math.floor(seconds / length + 0.05);
  return new Intl.RelativeTimeFormat(TEXTS.language, { numeric: "auto" })
    .format(at < now ? -steps : steps, unit);
}
