import { type InLanguage, type Language, type Markup, markup } from "./markup.ts";

const PREFIXES = ["", "Ki", "Mi", "Gi", "Ti"]; // of bytes, in French of octets

/** Formatters by language and digits: a long page would spend most of its time on creating them. */
const NUMBERS = new Map<string, Intl.NumberFormat>();

/** Formats bytes in the largest unit that leaves a short number, such as `1.4 MiB`. */
export function size(bytes: number): InLanguage {
  let value = bytes;
  let unit = 0;
  // Avoids `1024.0 KiB` after rounding.
  while (Number(value.toFixed(1)) >= 1024 && unit < PREFIXES.length - 1) {
    value /= 1024;
    unit++;
  }
  const digits = unit === 0 || value >= 100 ? 0 : 1;
  const options = { maximumFractionDigits: digits, useGrouping: false };
  const formatIn = (language: Language) =>
    NUMBERS.getOrInsertComputed(`${language} ${digits}`, () => new Intl.NumberFormat(language, options));
  return {
    in: (language) => `${formatIn(language).format(value)} ${PREFIXES[unit]}${language === "fr" ? "o" : "B"}`,
  };
}

/** Formats an offset from UTC, such as `UTC+01:00`. @param minutes East of Greenwich. */
export function zone(minutes: number): string {
  if (minutes === 0) return "UTC";
  const two = (n: number) => String(Math.trunc(n)).padStart(2, "0");
  return `UTC${minutes < 0 ? "−" : "+"}${two(Math.abs(minutes) / 60)}:${two(Math.abs(minutes) % 60)}`;
}

/** Formats a time in UTC; the script of pages, in the reader's zone. @param at Milliseconds since the epoch. */
export function moment(at: number): Markup {
  const text = new Date(at).toISOString();
  return markup`<time datetime="${text}">${text.slice(0, 16).replace("T", " ")} UTC</time>`;
}

/** Formats a time with its distance. Both in milliseconds since the epoch. */
export function when(at: number, now: number): Markup {
  return markup`${moment(at)} (${distance(at, now)})`;
}

const DISTANCES = new Map<Language, Intl.RelativeTimeFormat>();

const STEPS = [[86_400, "day"], [3600, "hour"], [60, "minute"]] as const;

/** Formats a relative time, such as `in 3 days`. Both in milliseconds since the epoch. */
export function distance(at: number, now: number): InLanguage {
  const seconds = Math.abs(at - now) / 1000;
  // Rounds up a little: a new share of 7 days ends in 7 days, not in 6.
  const [length, unit] = STEPS.find(([length]) => seconds / length >= 0.95) ?? [60, "minute"];
  const steps = Math.floor(seconds / length + 0.05);
  const formatIn = (language: Language) =>
    DISTANCES.getOrInsertComputed(language, () => new Intl.RelativeTimeFormat(language, { numeric: "auto" }));
  return { in: (language) => formatIn(language).format(at < now ? -steps : steps, unit) };
}
