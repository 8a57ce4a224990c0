import { ScryptSemaphore } from "../../authentication/password/stored_hash.ts";
import type { AttributeSource } from "../../attributes/attribute_source.ts";
import type { AskAccountStatus } from "../../authentication/account_status.ts";
import type { Recorder } from "../../notify/recorder.ts";
import type { Logger } from "../../logging/logger.ts";
import type { SharingParts } from "./sharing_parts.ts";
import { RunningUses } from "../access/running_uses.ts";
import { ShareOwners } from "./share_owners.ts";

const PURGE_INTERVAL = 10 * 60 * 1000;

/** Parts that this module makes of the other options. */
type Made = "owners" | "hashing" | "running" | "mails";

interface SharingOptions extends Omit<SharingParts, Made> {
  readonly attributes: AttributeSource;
  readonly accountStatus: AskAccountStatus;
  readonly recorder?: Recorder | undefined;
  readonly log: Logger;
}

/** Running data sharing. */
export interface OpenSharing extends SharingParts {
  close(): void;
}

/** Opens data sharing, which deletes ended shares regularly. */
export function openSharing(options: SharingOptions): OpenSharing {
  const { attributes, accountStatus, recorder, log, ...given } = options;
  const { store, clock } = given;
  const parts: SharingParts = {
    ...given,
    owners: new ShareOwners(attributes, accountStatus, log),
    hashing: new ScryptSemaphore(),
    running: new RunningUses(store, clock),
    mails: recorder?.has("mail") ?? false,
  };
  const timer = setInterval(() => {
    store.purge().then(
      (ended) => ended > 0 && log.info("ended shares deleted", { shares: ended }),
      (error) => log.error("ended shares not deleted", { error }),
    );
  }, PURGE_INTERVAL);
  return {
    ...parts,
    close: () => {
      clearInterval(timer);
      parts.running.close();
    },
  };
}
