import { type Content, markup } from "../markup.ts";
import { qrCode } from "./qr_code.ts";

/** Light modules around a code, so that readers find it (ISO/IEC 18004, 9.1). */
const QUIET = 4;

/**
 * A text as QR code, in the page itself: no script, no request. Dark on light whatever the colours of the page, since many
 * readers take nothing else. @param label What it is, for those who do not see it. @returns Nothing if the text is too long.
 */
export function qrPicture(text: string, label: string): Content {
  const modules = qrCode(text);
  if (modules === undefined) return undefined;
  const side = modules.size + 2 * QUIET;
  let path = "";
  for (let row = 0; row < modules.size; row++) {
    for (let column = 0; column < modules.size; column++) {
      if (!modules.isDark(row, column)) continue;
      const first = column;
      while (column + 1 < modules.size && modules.isDark(row, column + 1)) column++;
      path += `M${first + QUIET} ${row + QUIET}h${column - first + 1}v1H${first + QUIET}z`;
    }
  }
  return markup`<svg class="qr" role="img" aria-label="${label}" viewBox="0 0 ${side} ${side}" shape-rendering="crispEdges">
<rect width="${side}" height="${side}" fill="#fff"/><path d="${path}" fill="#000"/></svg>`;
}
