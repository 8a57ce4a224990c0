import assert from "node:assert/strict";
import { type Destination, Undeliverable } from "../../src/notify/destination.ts";
import type { Notification } from "../../src/notify/event.ts";
import { RemoteUnavailable } from "../../src/outgoing/remote_unavailable.ts";

/** Reaction of a receiver to a message. */
export type Behaviour = "accept" | "fail" | "silence" | "lose the answer";

/** Receiver with the destination that reaches it. */
export interface Receiver extends AsyncDisposable {
  readonly destination: Destination;
  behaviour: Behaviour;
  /** Ids of the messages that arrived, in order. */
  readonly received: readonly string[];
}

export function notification(message: string, name = "a.txt"): Notification {
  return {
    type: "files.arrived",
    data: { server: "HPC", path: "/data/drop/", name, bytes: 3 },
    mailTo: "ann@example.org",
    number: 1,
    message,
    stream: "share 1",
    made: Date.parse("2026-01-05T09:00:00Z"),
    attempts: 1,
  };
}

const soon = () => AbortSignal.timeout(20_000);

/** Registers the tests for every destination. */
export function testDestination(name: string, create: () => Promise<Receiver>): void {
  const fact = (title: string, check: (receiver: Receiver) => Promise<void>) =>
    Deno.test(`${name} ${title}`, async () => {
      await using receiver = await create();
      await check(receiver);
    });

  fact("delivers a notification once", async (receiver) => {
    const { destination } = receiver;
    await destination.deliver([notification("m-1")], soon());
    await destination.deliver([notification("m-2")], soon());
    assert.deepEqual(receiver.received, ["m-1", "m-2"]);
  });

  fact("reports a temporary failure, and delivers the same message afterwards", async (receiver) => {
    const { destination } = receiver;
    receiver.behaviour = "fail";
    const isTemporary = (error: unknown) => error instanceof Error && !(error instanceof Undeliverable);
    await assert.rejects(destination.deliver([notification("m-1")], soon()), isTemporary);
    receiver.behaviour = "accept";
    await destination.deliver([notification("m-1")], soon());
    assert.deepEqual(receiver.received, ["m-1"]);
  });

  fact("gives up on a silent receiver when the signal aborts", async (receiver) => {
    receiver.behaviour = "silence";
    const given = AbortSignal.timeout(300);
    await assert.rejects(receiver.destination.deliver([notification("m-1")], given));
    assert(given.aborted);
  });

  fact("reports a lost answer as a failure, and repeats the message with its id", async (receiver) => {
    const { destination } = receiver;
    receiver.behaviour = "lose the answer";
    await assert.rejects(destination.deliver([notification("m-1")], soon()));
    receiver.behaviour = "accept";
    await destination.deliver([notification("m-1")], soon());
    assert.deepEqual(receiver.received, ["m-1", "m-1"]);
  });

  fact("reports an unreachable receiver as unavailable", async (receiver) => {
    await receiver[Symbol.asyncDispose]();
    await assert.rejects(receiver.destination.deliver([notification("m-1")], soon()), RemoteUnavailable);
  });
}
