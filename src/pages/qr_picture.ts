import { encode, renderUnicodeCompact } from "uqr";
import { type Content, markup } from "./markup.ts";

const QUIET_ZONE = 4; // light modules around a code (ISO/IEC 18004, 9.1)
const MAX_VERSION = 20; // largest version: cameras still read its 97 modules from a screen
const MAX_BYTES = 666; // capacity of that version with error correction level M (15 %)

/** Draws a text as inline QR code, dark on light as scanners need it; nothing for more than 666 bytes. @param label Alternative text. */
export function qrPicture(text: string, label: Content): Content {
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

/** Draws a text as QR code of block characters, light on dark for terminals. */
export function qrText(text: string): string {
  return renderUnicodeCompact(text, { ecc: "M", border: 2 });
}
