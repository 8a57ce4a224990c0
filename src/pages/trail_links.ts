import type { Listing } from "../resource/access/listing.ts";
import { isolated, type Markup, markup } from "./markup.ts";
import { TEXTS } from "./texts.ts";

/** The way from the shared directory to where one is. @param last Whether the last of them is where one is. */
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
