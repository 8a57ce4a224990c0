import assert from "node:assert/strict";
import { CannotStart } from "../../src/rooms/cannot_start.ts";
import { Room } from "../../src/rooms/room.ts";
import type { FromRoom } from "../../src/rooms/room_message.ts";
import { inTime } from "../fixtures/deadline.ts";
import type { Told } from "./pinged_room.ts";

const MODULE = new URL("./pinged_room.ts", import.meta.url);
const PERMISSIONS = {
  net: false,
  read: false,
  write: false,
  env: false,
  run: false,
  ffi: false,
  sys: false,
  import: false,
} as const;

/** A room that is asked for signs of life each millisecond, and what becomes of it. */
function open() {
  const said: FromRoom["kind"][] = [];
  const death = Promise.withResolvers<string>();
  const deaths: string[] = [];
  const room = new Room<Told>(MODULE, "pinged", PERMISSIONS, {
    said: ({ kind }) => said.push(kind),
    died: (reason) => {
      deaths.push(reason);
      death.resolve(reason);
    },
    pingMs: 1,
  });
  return { room, said, deaths, died: () => inTime(death.promise, "its death") };
}

Deno.test("Room dies that answers no pings any more, and not before", async () => {
  const { room, said, died, deaths } = open();
  room.tell({ kind: "start", pongs: 20 });
  const ready = await room.ready();
  assert.equal(ready.kind, "ready");
  assert.equal(await died(), "no sign of life for 20 s");
  assert.deepEqual(said, ["ready", ...Array.from({ length: 20 }, () => "pong")]);
  await new Promise((resolve) => setTimeout(resolve, 10)); // pings, if it were still asked
  assert.equal(deaths.length, 1);
});

Deno.test("Room is not asked for signs of life before it is ready, nor after its end", async () => {
  const { room, deaths } = open();
  await new Promise((resolve) => setTimeout(resolve, 20)); // it would be dead
  room.tell({ kind: "start", pongs: 1_000_000 });
  await room.ready();
  room.end();
  room.tell({ kind: "break" });
  await new Promise((resolve) => setTimeout(resolve, 20));
  assert.deepEqual(deaths, []);
});

Deno.test("Room that cannot start says why; that is no death", async () => {
  const { room, deaths } = open();
  const ready = room.ready();
  room.tell({ kind: "fail" });
  await assert.rejects(
    ready,
    (error) => error instanceof CannotStart && error.problems.join() === "no place",
  );
  room.end();
  assert.deepEqual(deaths, []);
});

Deno.test("Room dies of a defect, and whoever waits for it is told", async () => {
  const { room, died } = open();
  const ready = room.ready();
  room.tell({ kind: "break" });
  assert.match(await died(), /a defect/);
  await assert.rejects(ready, (error) => error instanceof CannotStart && /a defect/.test(error.message));
  await inTime(room.closed(3600_000), "the end of one that is dead");
});

Deno.test("Room.closed() waits for the room's word, and no longer than it is told", async () => {
  const { room } = open();
  room.tell({ kind: "start", pongs: 1_000_000 });
  await room.ready();
  await room.closed(1);
  const closed = room.closed(3600_000);
  room.tell({ kind: "end" });
  await inTime(closed, "the end");
  room.end();
});
