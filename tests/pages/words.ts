/** Tags of elements that separate the text before and after them. */
const APART =
  /<\/?(?:p|h\d|div|header|main|footer|nav|section|ul|ol|li|dl|dt|dd|table|thead|tbody|tr|th|td|pre|form|details|summary|label|select|option|textarea|button|svg)\b[^>]*>/g;

/** Returns the visible text of a page, from its heading on, piece by piece. */
export function wordsOf(page: string): string[] {
  return page.slice(Math.max(0, page.indexOf("<body>")))
    .replace(/<script>.*?<\/script>/gs, "")
    .replace(APART, "\n")
    .replace(/<[^>]*>/g, "")
    .replace(/&#(\d+);/g, (_, code) => String.fromCodePoint(Number(code)))
    .split("\n").map((line) => line.replace(/\s+/g, " ").trim()).filter((line) => line !== "");
}

/** Replaces times by `TIME`, since they depend on the time zone of the test, and days by `DAY`. */
export function withoutTimes(lines: readonly string[]): string[] {
  return lines.map((line) =>
    line.replace(/\d{4}-\d\d-\d\d \d\d:\d\d UTC(?:[+−]\d\d:\d\d)?/g, "TIME").replace(
      /\d{4}-\d\d-\d\d/g,
      "DAY",
    )
  );
}
