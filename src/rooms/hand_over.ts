import type { Logger } from "../logging/logger.ts";
import type { Ban } from "../regulation/ban.ts";
import { ask, type DeskCaller } from "./desk_link.ts";

/** How long a core may take to tell what it knows, and another to take it over, in milliseconds. */
const HAND_OVER_MS = 3000;

/**
 * Tells a new core what the one before knows about failed logins and bans, so that a reload ends no wait. Where there is
 * none, or it does not answer, at least the bans by hand go on.
 */
export async function handOver(
  before: DeskCaller | undefined,
  after: DeskCaller,
  { operator, log }: { readonly operator: readonly Ban[]; readonly log: Logger },
): Promise<void> {
  const remembered = { pairs: [], addresses: [], users: [], tokens: [], known: [], operator };
  try {
    const state = before === undefined
      ? remembered
      : (await ask(before, { about: "regulation" }, HAND_OVER_MS)).state;
    await after.ask({ about: "adopt", state }, HAND_OVER_MS);
  } catch (error) {
    log.warn("failed logins are counted anew after the change of the core", { error });
    await after.ask({ about: "adopt", state: remembered }, HAND_OVER_MS).catch((error) =>
      log.error("bans by hand are lost", { error })
    );
  }
}
