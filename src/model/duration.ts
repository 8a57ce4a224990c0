const UNITS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400 };

/** Parses `90s`, `30m`, `12h` or `7d` to seconds; `undefined` if invalid or zero. */
export function parseDuration(text: string): number | undefined {
  const [, count, unit = ""] = /^([0-9]{1,9})([smhd])$/.exec(text) ?? [];
  const seconds = Number(count) * (UNITS[unit] ?? NaN);
  return seconds > 0 ? seconds : undefined;
}
