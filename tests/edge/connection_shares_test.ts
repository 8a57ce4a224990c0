import assert from "node:assert/strict";
import { EventEmitter } from "node:events";
import fc from "fast-check";
import { ConnectionShares } from "../../src/edge/connection_shares.ts";

/** A connection as far as the shares look at it. */
class Connection extends EventEmitter {
  constructor(readonly remoteAddress: string) {
    super();
  }
}

/** How many of so many connections one address gets. */
function taken(shares: ConnectionShares, address: string, wanted: number): number {
  return Array.from({ length: wanted }, () => shares.admit(new Connection(address))).filter(Boolean).length;
}

const byAddress = (address: string) => address === "gateway" ? undefined : address;

Deno.test("ConnectionShares gives one address half of all, and the next ones what leaves some for others", () => {
  const shares = new ConnectionShares(1200, byAddress);
  assert.equal(taken(shares, "a", 5000), 600);
  assert.equal(taken(shares, "b", 5000), 300);
  assert.equal(taken(shares, "c", 5000), 150);
  assert.equal(taken(shares, "somebody else", 10), 10);
});

Deno.test("ConnectionShares gives a gateway all there are, and nobody more", () => {
  const shares = new ConnectionShares(100, byAddress);
  assert.equal(taken(shares, "gateway", 500), 100);
  assert.equal(taken(shares, "a", 1), 0);
});

Deno.test("ConnectionShares without limit refuses nobody", () => {
  assert.equal(taken(new ConnectionShares(0, byAddress), "a", 5000), 5000);
});

Deno.test("ConnectionShares counts what is open, whatever comes and goes", () => {
  const step = fc.record({ address: fc.constantFrom("a", "b", "gateway"), close: fc.boolean() });
  fc.assert(fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
    const shares = new ConnectionShares(10, byAddress);
    const open: Connection[] = [];
    for (const { address, close } of steps) {
      if (close) open.shift()?.emit("close");
      else {
        const own = open.filter(({ remoteAddress }) => remoteAddress === address).length;
        const fits = 10 - open.length > (address === "gateway" ? 0 : own);
        const connection = new Connection(address);
        assert.equal(shares.admit(connection), fits);
        if (fits) open.push(connection);
      }
    }
  }));
});
