import { encode } from "uqr";
import { type Content, markup } from "./markup.ts";

/** Light modules around a code, so that readers find it (ISO/IEC 18004, 9.1). */
const QUIET_ZONE = 4;
/** Largest version of a code: cameras still read its 97 modules from a screen. */
const MAX_VERSION = 20;
/** Bytes that such a code holds with error correction of level M, of which 15 % can be missing. */
const MAX_BYTES = 666;

/**
 * Draws a text as QR code in the page itself, without script or request. The code is dark on light whatever the colours of
 * the page, since many readers take nothing else. @param label Text for people who do not see the code.
 * @returns Nothing if the text is longer than 666 bytes of UTF-8.
 */
export function qrPicture(text: string, label: string): Content {
  const bytes = [...new TextEncoder().encode(text)];
  if (bytes.length > MAX_BYTES) return undefined;
  const { size, data } = encode(bytes, { ecc: "M", maxVersion: MAX_VERSION, border: QUIET_ZONE });
  let path = "";
  for (const [y, row] of data.entries()) {
    for (let x = row.indexOf(true); x >= 0;) {
      const light = row.indexOf(false, x);
      path += `M${x} ${y}h${light - x}v1H${x}z`;
      x = row.indexOf(true, light);
    }
  }
  return markup`<svg class="qr" role="img" aria-label="${label}" viewBox="0 0 ${size} ${size}" shape-rendering="crispEdges">
<rect width="${size}" height="${size}" fill="#fff"/><path d="${path}" fill="#000"/></svg>`;
}
