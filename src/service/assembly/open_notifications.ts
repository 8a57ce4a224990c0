import { withKinds } from "../../config/kind.ts";
import type { ServiceConfig } from "../../config/service_config.ts";
import type { Logger } from "../../logging/logger.ts";
import type { Sinks } from "../../logging/sink.ts";
import type { Clock } from "../../model/clock.ts";
import { Dispatcher } from "../../notify/dispatcher.ts";
import { Notifications } from "../../notify/notifications.ts";
import { Outbox } from "../../notify/outbox.ts";
import { Recorder } from "../../notify/recorder.ts";
import type { Outgoing } from "../../outgoing/outgoing.ts";
import { SHARE_DATABASE, SHARE_SCHEMA } from "../../sharing/store/schema.ts";
import type { Database } from "../../store/database.ts";
import { SqliteDatabase } from "../../store/sqlite_database.ts";
import type { ServiceKinds } from "../kinds.ts";

/** Opens the notifications, beside the shares, and starts to deliver them. */
export async function openNotifications(
  { notifications, sharing: { directory } }: ServiceConfig,
  { kinds, database: shared, sinks, keep, ...parts }: {
    readonly kinds: ServiceKinds;
    readonly database: Database | undefined;
    readonly sinks: Sinks;
    readonly keep: (part: { close(): Promise<void> }) => void;
    readonly outgoing: Outgoing;
    readonly externalUrl: string;
    readonly log: Logger;
    readonly clock: Clock;
  },
): Promise<Notifications> {
  const database = shared ?? new SqliteDatabase(`${directory}/${SHARE_DATABASE}`, SHARE_SCHEMA, parts.clock);
  const configured = await withKinds(notifications, kinds.destinations);
  const opened = new Notifications(new Recorder(configured, sinks), database, sinks);
  const dispatchers: Dispatcher[] = [];
  keep({
    close: async () => {
      await Promise.all([opened, ...dispatchers].map((part) => part.close()));
      if (shared === undefined) database.close();
    },
  });
  const outbox = new Outbox(database);
  for (const { config, kind } of configured) {
    const dispatcher = new Dispatcher(await kind.create(config, parts), { outbox, sinks, log: parts.log });
    dispatchers.push(dispatcher);
    dispatcher.begin();
  }
  return opened;
}
