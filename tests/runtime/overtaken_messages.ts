/** Prints how many messages to its parent a worker loses at its death, while those to a port arrive. */
import { inTime } from "../fixtures/deadline.ts";

/** Worker that posts messages to its parent and to a port, signals that, and dies. */
const MORTAL = `
self.onmessage = ({ data: { messages, port, done } }) => {
  const text = "x".repeat(1000);
  for (let i = 0; i < messages; i++) {
    self.postMessage(text);
    port.postMessage(text);
  }
  Atomics.store(new Int32Array(done), 0, 1);
  throw new Error("dies");
};`;

const MESSAGES = 1000;
let overtaken = 0;
for (let round = 0; round < 10 && overtaken === 0; round++) {
  const url = URL.createObjectURL(new Blob([MORTAL], { type: "text/javascript" }));
  const worker = new Worker(url, { type: "module" });
  const { port1, port2 } = new MessageChannel();
  const { promise: arrived, resolve: arrive } = Promise.withResolvers<void>();
  const { promise: dead, resolve: die } = Promise.withResolvers<void>();
  let [direct, byPort] = [0, 0];
  worker.onmessage = () => direct++;
  port1.onmessage = () => ++byPort === MESSAGES && arrive();
  worker.onerror = (event) => {
    event.preventDefault();
    worker.terminate();
    die();
  };
  const done = new SharedArrayBuffer(4);
  worker.postMessage({ messages: MESSAGES, port: port2, done }, [port2]);
  // The parent thread is busy meanwhile.
  while (Atomics.load(new Int32Array(done), 0) === 0);
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 50 * (round + 1));
  await inTime(dead, "the death of the worker");
  await inTime(arrived, "all that was posted to the port");
  overtaken = MESSAGES - direct;
  port1.close();
  URL.revokeObjectURL(url);
}
console.log(overtaken);
