import assert from "node:assert/strict";
import { EventEmitter } from "node:events";
import fc from "fast-check";
import { ConnectionShares } from "../../src/edge/connection_shares.ts";

/** How many of so many connections one address gets. */
function taken(shares: ConnectionShares, address: string, wanted: number): number {
  return Array.from({ length: wanted }, () => shares.admit(new EventEmitter(), groupOf(address))).filter(
    Boolean,
  ).length;
}

/** A gateway may have all. */
const groupOf = (address: string) => address === "gateway" ? undefined : address;

Deno.test("ConnectionShares gives one address half of all, and the next ones what leaves some for others", () => {
  const shares = new ConnectionShares(1200);
  assert.equal(taken(shares, "a", 5000), 600);
  assert.equal(taken(shares, "b", 5000), 300);
  assert.equal(taken(shares, "c", 5000), 150);
  assert.equal(taken(shares, "somebody else", 10), 10);
});

Deno.test("ConnectionShares gives a gateway all there are, and nobody more", () => {
  const shares = new ConnectionShares(100);
  assert.equal(taken(shares, "gateway", 500), 100);
  assert.equal(taken(shares, "a", 1), 0);
});

Deno.test("ConnectionShares without limit refuses nobody", () => {
  assert.equal(taken(new ConnectionShares(0), "a", 5000), 5000);
});

Deno.test("ConnectionShares counts what is open and whose it is, whatever comes, goes and turns out to be", () => {
  const address = fc.constantFrom("a", "b", "gateway");
  // More come than go: what is refused is decided where it is crowded.
  const step = fc.record({ address, of: fc.constantFrom("come", "come", "come", "go", "assign") });
  fc.assert(fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
    const shares = new ConnectionShares(10);
    let open: { socket: EventEmitter; address: string }[] = [];
    const fits = (address: string, others: typeof open) =>
      10 - others.length >
        (address === "gateway" ? 0 : others.filter((one) => one.address === address).length);
    for (const { address, of } of steps) {
      const [first, ...rest] = open;
      if (of === "go") {
        first?.socket.emit("close");
        open = rest;
      } else if (of === "come") {
        const socket = new EventEmitter();
        assert.equal(shares.admit(socket, groupOf(address)), fits(address, open));
        if (fits(address, open)) open.push({ socket, address });
      } else if (first !== undefined) {
        const stays = shares.assign(first.socket, groupOf(address));
        assert.equal(stays, fits(address, rest));
        if (!stays) first.socket.emit("close");
        open = stays ? [...rest, { ...first, address }] : rest;
      }
    }
  }));
});
