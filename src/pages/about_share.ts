import type { ShareFacts } from "../resource/access/listing.ts";
import { isolated, type Markup, markup } from "./markup.ts";
import { personName } from "./person_name.ts";
import { distance, moment } from "./quantities.ts";
import { TEXTS } from "./texts.ts";

/** Returns owner and end of a share. @param now Milliseconds since the epoch. */
export function aboutShare({ owner, expires }: Pick<ShareFacts, "owner" | "expires">, now: number): Markup {
  const end = expires * 1000;
  const says = TEXTS.listing;
  return markup`${says.sharedBy} ${isolated(personName(owner))}${
    expires > 0 && markup`, ${says.until} ${moment(end)} (${distance(end, now)})`
  }`;
}
