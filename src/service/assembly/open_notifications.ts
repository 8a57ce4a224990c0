import { withKinds } from "../../config/kind.ts";
import { Dispatcher } from "../../notify/dispatcher.ts";
import { Notifications } from "../../notify/notifications.ts";
import { Outbox } from "../../notify/outbox.ts";
import { Recorder } from "../../notify/recorder.ts";
import type { Outgoing } from "../../outgoing/outgoing.ts";
import { SHARE_DATABASE, SHARE_SCHEMA } from "../../sharing/store/schema.ts";
import type { Database } from "../../store/database.ts";
import { SqliteDatabase } from "../../store/sqlite_database.ts";
import type { ServiceKinds } from "../kinds.ts";
import type { Opening } from "./service_options.ts";

/** Dependencies of notifications beyond those with which every part is opened. */
export interface NotifyingParts {
  readonly kinds: ServiceKinds;
  readonly outgoing: Outgoing;
  readonly externalUrl: string;
}

/** Opens the notifications, in the database of the shares, and starts to deliver them. */
export async function openNotifications(
  { config: { notifications, sharing: { directory } }, log, clock, sinks, autoClose }: Opening,
  { kinds, database: shared, ...parts }: NotifyingParts & { readonly database: Database | undefined },
): Promise<Notifications> {
  const database = shared ?? new SqliteDatabase(`${directory}/${SHARE_DATABASE}`, SHARE_SCHEMA, clock);
  const configured = await withKinds(notifications, kinds.destinations);
  const opened = new Notifications(new Recorder(configured, sinks), database, sinks);
  const dispatchers: Dispatcher[] = [];
  autoClose({
    retire: () => dispatchers.forEach((dispatcher) => void dispatcher.close()),
    close: async () => {
      await Promise.all([opened, ...dispatchers].map((part) => part.close()));
      if (shared === undefined) database.close();
    },
  });
  const outbox = new Outbox(database);
  for (const { config, kind } of configured) {
    const destination = await kind.create(config, { ...parts, log, clock });
    const dispatcher = new Dispatcher(destination, { outbox, sinks, log });
    dispatchers.push(dispatcher);
    dispatcher.begin();
  }
  return opened;
}
