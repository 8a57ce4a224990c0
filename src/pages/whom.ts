import type { Share } from "../sharing/share.ts";
import { EVERYBODY, groupOf } from "../sharing/target.ts";
import { type Content, isolated, markup } from "./markup.ts";
import { personName } from "./person_name.ts";
import { TEXTS } from "./texts.ts";

/** Returns the target of a share in words. */
export function whom({ target }: Pick<Share, "target">): Content {
  if (target === EVERYBODY) return TEXTS.shares.everybody;
  const group = groupOf(target);
  return group === undefined
    ? isolated(personName(target))
    : markup`${TEXTS.shares.membersOf} ${isolated(group)}`;
}
