/** A block of a PEM text (RFC 7468). */
interface PemBlock {
  /** What stands behind `BEGIN`, such as `CERTIFICATE`. */
  readonly label: string;
  /** The whole block with its first and last line. */
  readonly text: string;
}

const BEGIN = "-----BEGIN ";
const END = "-----END ";
const DASHES = "-----";

/**
 * The blocks of a PEM text, in order; whatever stands between them is passed over, and so is a beginning whose next end
 * has another label. Reads the text once.
 */
export function* pemBlocks(text: string): Generator<PemBlock> {
  let end = -1;
  for (let at = text.indexOf(BEGIN); at >= 0; at = text.indexOf(BEGIN, at)) {
    const start = at;
    at += BEGIN.length;
    const stop = text.indexOf(DASHES, at);
    // Many beginnings may have one end.
    if (end < at) end = text.indexOf(END, at);
    if (stop < 0 || end < 0) return;
    const label = text.slice(at, stop);
    const last = `${END}${label}${DASHES}`;
    if (!text.startsWith(last, end)) continue;
    at = end + last.length;
    yield { label, text: text.slice(start, at) };
  }
}
