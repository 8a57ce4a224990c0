/** Makes a worker die of a real defect, and prints the reports of its death as JSON. */
import { inTime } from "../fixtures/deadline.ts";
import { open } from "./opened_worker.ts";

const { worker, died } = open();
const ready = worker.ready().then(() => "ready", (error) => `${error.constructor.name}: ${error.message}`);
worker.post({ kind: "break" });
const reason = await died();
const notReady = await ready;
await inTime(worker.waitFor("closed", 3600_000), "the end of one that is dead");
console.log(JSON.stringify({ died: reason, notReady, closed: true }));
