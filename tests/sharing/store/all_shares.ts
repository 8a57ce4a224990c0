import type { Share } from "../../../src/sharing/share.ts";
import type { Page, ShareStore } from "../../../src/sharing/store/share_store.ts";

/** Reads all shares that are not expired, of one server or of all, two in a page. */
export async function allShares(store: ShareStore, server?: string): Promise<Share[]> {
  const found: Share[] = [];
  let next: Page["next"];
  do {
    const page: Page = await store.page({ server }, { after: next, most: 2 });
    found.push(...page.shares);
    next = page.next;
  } while (next !== undefined);
  return found;
}
