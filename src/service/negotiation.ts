interface MediaRange {
  readonly type: string;
  readonly subtype: string;
  readonly quality: number;
}

/** Whether an `Accept` header admits a media type (RFC 9110, 12.5.1); absent or unreadable, it admits all. */
export function accepts(header: string | null, mediaType: string): boolean {
  return header === null || header === mediaType || qualityOf(header, mediaType) > 0;
}

/** Whether a caller would rather have a page than JSON: browsers say so, programs do not. */
export function prefersHtml(header: string | null): boolean {
  return header !== null && /text\/html/i.test(header) &&
    qualityOf(header, "text/html") > qualityOf(header, "application/json");
}

/** The weight of the most specific range that covers the type; 0 if none does. */
function qualityOf(header: string, mediaType: string): number {
  const [type, subtype] = mediaType.split("/");
  let best = { precision: -1, quality: 0 };
  const ranges = parseAccept(header);
  if (ranges.length === 0) return 1;
  for (const range of ranges) {
    if (range.type !== "*" && range.type !== type) continue;
    if (range.subtype !== "*" && range.subtype !== subtype) continue;
    const precision = Number(range.type !== "*") + Number(range.subtype !== "*");
    if (precision > best.precision) best = { precision, quality: range.quality };
  }
  return best.quality;
}

function parseAccept(header: string): MediaRange[] {
  return header.split(",").flatMap((part) => {
    const [range = "", ...parameters] = part.trim().toLowerCase().split(/\s*;\s*/);
    const [type, subtype] = range.split("/");
    if (!type || !subtype) return [];
    const weight = parameters.find((parameter) => parameter.startsWith("q="))?.slice(2);
    const quality = weight === undefined ? 1 : Number(weight);
    return [{ type, subtype, quality: Number.isFinite(quality) ? quality : 1 }];
  });
}
