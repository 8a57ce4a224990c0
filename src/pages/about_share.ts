import type { Listing, ShareFacts } from "../resource/access/listing.ts";
import { type Content, isolated, type Markup, markup } from "./markup.ts";
import { personName } from "./person_name.ts";
import { distance, moment } from "./quantities.ts";
import { TEXTS } from "./texts.ts";
import type { Share } from "../sharing/share.ts";
import { EVERYBODY, groupOf } from "../sharing/target.ts";

/** Who shares something, and until when. @param now Milliseconds since the epoch. */
export function aboutShare({ owner, expires }: Pick<ShareFacts, "owner" | "expires">, now: number): Markup {
  const end = expires * 1000;
  const says = TEXTS.listing;
  return markup`${says.sharedBy} ${isolated(personName(owner))}${
    expires > 0 && markup`, ${says.until} ${moment(end)} (${distance(end, now)})`
  }`;
}

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

/** For whom a share is, in words. */
export function whom({ target }: Pick<Share, "target">): Content {
  if (target === EVERYBODY) return TEXTS.shares.everybody;
  const group = groupOf(target);
  return group === undefined
    ? isolated(personName(target))
    : markup`${TEXTS.shares.membersOf} ${isolated(group)}`;
}
