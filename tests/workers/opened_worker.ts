import { type StartLimits, WorkerThread } from "../../src/workers/worker_thread.ts";
import type { FromWorker } from "../../src/workers/worker_message.ts";
import { inTime } from "../fixtures/deadline.ts";
import type { Told } from "./pinged_worker.ts";

const MODULE = new URL("./pinged_worker.ts", import.meta.url);
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

/** Starts a worker that gets a ping at each `tick`, if set, and records its messages and death. */
export function open(startLimits?: StartLimits) {
  const said: FromWorker["kind"][] = [];
  const told: FromWorker[] = [];
  const death = Promise.withResolvers<string>();
  const deaths: string[] = [];
  const pings: { tick?: (() => void) | undefined } = {};
  const worker = new WorkerThread<Told>(MODULE, "pinged", PERMISSIONS, {
    onMessage: (message) => {
      said.push(message.kind);
      told.push(message);
    },
    died: (reason) => {
      deaths.push(reason);
      death.resolve(reason);
    },
    pings: (_ms, tick) => {
      pings.tick = tick;
      return () => pings.tick = undefined;
    },
    startLimits,
  });
  return { worker, pings, said, told, deaths, died: () => inTime(death.promise, "its death") };
}
