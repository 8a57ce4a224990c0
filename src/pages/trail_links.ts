import type { Listing } from "../resource/access/listing.ts";
import { isolated, type Markup, markup } from "./markup.ts";
import { TEXTS } from "./texts.ts";

/** Returns links from the shared directory to the current one. @param last Whether the last one is the current page. */
export function trailLinks(
  trail: Listing["trail"],
  { last = true }: { readonly last?: boolean } = {},
): Markup {
  return markup`<nav aria-label="${TEXTS.listing.trail}"><ol class="trail">${
    trail.map(({ name, href }, i) =>
      markup`<li>${
        last && i === trail.length - 1
          ? markup`<span aria-current="page">${isolated(name)}</span>`
          : markup`<a href="${href}">${isolated(name)}</a>`
      }</li>`
    )
  }</ol></nav>`;
}
