import type { Listing, ShareFacts } from "../resource/access/listing.ts";
import { type Content, isolated, type Markup, markup } from "./markup.ts";
import { personName } from "./person_name.ts";
import { when } from "./quantities.ts";
import { TEXTS } from "./texts.ts";
import { EVERYBODY, groupOf, type Share } from "../sharing/share.ts";

/** Returns owner and end of a share. @param now Milliseconds since the epoch. */
export function aboutShare(
  { owner, ownerName, expires }: Pick<ShareFacts, "owner" | "ownerName" | "expires">,
  now: number,
): Markup {
  const end = expires * 1000;
  const says = TEXTS.listing;
  const until = expires > 0 && markup`, ${says.until} ${when(end, now)}`;
  return markup`${says.sharedBy} ${named(owner, ownerName)}${until}`;
}

/** Returns links from the shared directory to the current one. @param last Whether the last one is the current page. */
export function trailLinks(
  trail: Listing["trail"],
  { last = true }: { readonly last?: boolean } = {},
): Markup {
  const links = trail.map(({ name, href }, i) =>
    last && i === trail.length - 1
      ? markup`<li><span aria-current="page">${isolated(name)}</span></li>`
      : markup`<li><a href="${href}">${isolated(name)}</a></li>`
  );
  return markup`<nav aria-label="${TEXTS.listing.trail}"><ol class="trail">${links}</ol></nav>`;
}

/** Returns the name of a share's owner. */
export function ownerName({ owner, made }: Pick<Share, "owner" | "made">): Content {
  return named(made?.owner.dn ?? owner, made?.owner.name);
}

/** Returns the common name, after a display name if that differs: users choose it, so it never stands alone. */
function named(dn: string, displayName: string | undefined): Content {
  const common = personName(dn);
  if (displayName === undefined || displayName === common) return isolated(common);
  return markup`${isolated(displayName)} (${isolated(common)})`;
}

/** Returns the target of a share in words. */
export function recipientOf({ target, targetName }: Pick<Share, "target" | "targetName">): Content {
  if (target === EVERYBODY) return TEXTS.shares.everybody;
  const group = groupOf(target);
  return group === undefined
    ? isolated(personName(targetName ?? target))
    : markup`${TEXTS.shares.membersOf} ${isolated(group)}`;
}
