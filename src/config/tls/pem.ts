/** PEM block (RFC 7468). */
interface PemBlock {
  readonly label: string; // such as `CERTIFICATE`
  readonly text: string; // with first and last line
}

const BEGIN = "-----BEGIN ";
const END = "-----END ";
const DASHES = "-----";

/** Yields PEM blocks in order in one pass, ignoring other text and blocks with mismatched labels. */
export function* pemBlocks(text: string): Generator<PemBlock> {
  let end = -1;
  for (let at = text.indexOf(BEGIN); at >= 0; at = text.indexOf(BEGIN, at)) {
    const start = at;
    at += BEGIN.length;
    const stop = text.indexOf(DASHES, at);
    // Keep the end for several beginnings, to stay linear.
    if (end < at) end = text.indexOf(END, at);
    if (stop < 0 || end < 0) return;
    const label = text.slice(at, stop);
    const last = `${END}${label}${DASHES}`;
    if (!text.startsWith(last, end)) continue;
    at = end + last.length;
    yield { label, text: text.slice(start, at) };
  }
}
