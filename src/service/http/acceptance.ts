import { BoundedMap } from "../../model/bounded_map.ts";

interface MediaRange {
  readonly type: string;
  readonly subtype: string;
  readonly quality: number;
}

/** Parsed `Accept` header (RFC 9110, 12.5.1). */
export class Acceptance {
  readonly #ranges: readonly MediaRange[];

  /** @param header Absent: accepts everything. */
  constructor(header: string | null) {
    this.#ranges = (header ?? "").toLowerCase().split(",").flatMap(mediaRanges);
  }

  /** As the constructor; parses a header once, since programs always send the same. */
  static of(header: string | null): Acceptance {
    return KNOWN.getOrInsertComputed(header ?? "", (text) => new Acceptance(text));
  }

  /** Reports whether the caller accepts a type; an absent or unreadable header accepts all. */
  admits(mediaType: string): boolean {
    return this.#qualityOf(mediaType) > 0;
  }

  /** Whether the caller prefers pages to JSON: browsers do, programs do not. */
  get prefersHtml(): boolean {
    return this.#ranges.some(({ type, subtype }) => type === "text" && subtype === "html") &&
      this.#qualityOf("text/html") > this.#qualityOf("application/json");
  }

  /** Quality of the most specific matching range; 0 without a match. */
  #qualityOf(mediaType: string): number {
    if (this.#ranges.length === 0) return 1;
    const [type, subtype] = mediaType.split("/");
    let best = { precision: -1, quality: 0 };
    for (const range of this.#ranges) {
      if (range.type !== "*" && range.type !== type) continue;
      if (range.subtype !== "*" && range.subtype !== subtype) continue;
      const precision = Number(range.type !== "*") + Number(range.subtype !== "*");
      if (precision > best.precision) best = { precision, quality: range.quality };
    }
    return best.quality;
  }
}

const KNOWN = new BoundedMap<string, Acceptance>(64); // by header, whose length is limited

/** Empty for unreadable headers. */
function mediaRanges(text: string): MediaRange[] {
  const [range = "", ...parameters] = text.split(";").map((part) => part.trim());
  const [type, subtype] = range.split("/");
  if (!type || !subtype) return [];
  const quality = Number(parameters.find((parameter) => parameter.startsWith("q="))?.slice(2) ?? 1);
  return [{ type, subtype, quality: Number.isFinite(quality) ? quality : 1 }];
}
