import type { KindList } from "../config/kind.ts";
import type { DestinationKind } from "./destination.ts";

/** All kinds of destinations, in the order of the manual. */
export const DESTINATIONS: KindList<DestinationKind> = {
  sort: "notification",
  kinds: [
    {
      classes: { webhook: {} },
      prefix: "notify.webhook.",
      load: async () => (await import("./webhook/kind.ts")).webhook,
    },
    { classes: { mail: {} }, prefix: "share.mail.", load: async () => (await import("./mail/kind.ts")).mail },
  ],
  refused: {},
};
