import { SILENT } from "../../src/logging/logger.ts";
import { FileReservationStore } from "../../src/reservations/file_reservation_store.ts";
import { openReservationBook } from "../../src/reservations/reservation_book.ts";
import { testReservations, ZONE } from "./conformance.ts";

testReservations("reservations in a file", async (clock) => {
  const folder = await Deno.makeTempDir();
  const file = `${folder}/reservations.json`;
  const book = await openReservationBook({ file, zone: ZONE, clock, log: SILENT, intervalMs: 10 });
  return {
    store: new FileReservationStore({ file, zone: ZONE, now: clock() }),
    book,
    close: async () => {
      book.close();
      await Deno.remove(folder, { recursive: true });
    },
  };
});
