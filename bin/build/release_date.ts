/**
 * The moment that files of a release carry: `SOURCE_DATE_EPOCH`, in seconds, so that a build can be repeated
 * (reproducible-builds.org), or now.
 */
export function releaseDate(): Date {
  const seconds = Deno.env.get("SOURCE_DATE_EPOCH");
  return seconds === undefined ? new Date() : new Date(Number(seconds) * 1000);
}
