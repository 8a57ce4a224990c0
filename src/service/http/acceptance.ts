import { BoundedMap } from "../../model/bounded_map.ts";

/** One of the types that an `Accept` header names, in lower case. */
interface MediaRange {
  readonly type: string;
  readonly subtype: string;
  readonly quality: number;
}

/** Headers that are read once for all requests: programs send always the same. */
const KNOWN = new BoundedMap<string, Acceptance>(64);
const MAX_KNOWN_LENGTH = 256;

/** Which media types a caller takes: an `Accept` header, read (RFC 9110, 12.5.1). */
export class Acceptance {
  readonly #ranges: readonly MediaRange[];

  private constructor(header: string) {
    this.#ranges = header.toLowerCase().split(",").flatMap(mediaRanges);
  }

  /** @param header Absent: whoever asks takes all. */
  static of(header: string | null): Acceptance {
    const text = header ?? "";
    const known = KNOWN.get(text);
    if (known !== undefined) return known;
    const read = new Acceptance(text);
    if (text.length <= MAX_KNOWN_LENGTH) KNOWN.set(text, read);
    return read;
  }

  /** Whether the caller takes this type; one whose header is absent or unreadable takes all. */
  admits(mediaType: string): boolean {
    return this.#qualityOf(mediaType) > 0;
  }

  /** Whether the caller would rather have a page than JSON: browsers say so, programs do not. */
  get prefersHtml(): boolean {
    return this.#ranges.some(({ type, subtype }) => type === "text" && subtype === "html") &&
      this.#qualityOf("text/html") > this.#qualityOf("application/json");
  }

  /** The weight of the most specific range that covers the type; 0 if none does. */
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

/** None for what cannot be read. */
function mediaRanges(text: string): MediaRange[] {
  const [range = "", ...parameters] = text.split(";").map((part) => part.trim());
  const [type, subtype] = range.split("/");
  if (!type || !subtype) return [];
  const quality = Number(parameters.find((parameter) => parameter.startsWith("q="))?.slice(2) ?? 1);
  return [{ type, subtype, quality: Number.isFinite(quality) ? quality : 1 }];
}
