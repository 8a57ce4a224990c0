import { SILENT } from "../../src/logging/logger.ts";
import { FileReservationStore } from "../../src/reservations/file_reservation_store.ts";
import { openReservationRegistry } from "../../src/reservations/reservation_registry.ts";
import { testReservations, ZONE } from "./conformance.ts";

testReservations("reservations in a file", async (clock) => {
  const folder = await Deno.makeTempDir();
  const file = `${folder}/reservations.json`;
  const registry = await openReservationRegistry({ file, zone: ZONE, clock, log: SILENT, intervalMs: 10 });
  return {
    store: new FileReservationStore({ file, zone: ZONE, now: clock() }),
    registry,
    close: async () => {
      registry.close();
      await Deno.remove(folder, { recursive: true });
    },
  };
});
