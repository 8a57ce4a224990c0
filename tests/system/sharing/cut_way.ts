/**
 * Starts a proxy to the service that cuts a connection after each of these numbers of bytes, in turn.
 * @param how Whether both sides see the cut, or the transfer stalls.
 */
export function cutting(port: number, cuts: number[], how: "close" | "stall" = "close") {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const state = { cut: 0 };
  const over = Promise.withResolvers<void>();
  const carry = async (from: Deno.Conn, to: Deno.Conn, passed: (bytes: number) => boolean) => {
    const buffer = new Uint8Array(64 * 1024);
    try {
      for (let count = await from.read(buffer); count !== null; count = await from.read(buffer)) {
        if (!passed(count)) {
          if (how === "stall") await over.promise;
          break;
        }
        for (let at = 0; at < count;) at += await to.write(buffer.subarray(at, count));
      }
    } catch {
      // One side has closed, so the other closes, too.
    }
    for (const end of [from, to]) {
      try {
        end.close();
      } catch {
        // closed already
      }
    }
  };
  const accepted = (async () => {
    for await (const client of listener) {
      const service = await Deno.connect({ hostname: "127.0.0.1", port });
      let bytes = 0;
      void carry(client, service, (count) => {
        bytes += count;
        const cut = cuts[0];
        if (cut === undefined || bytes < cut) return true;
        cuts.shift();
        state.cut++;
        return false;
      });
      void carry(service, client, () => true);
    }
  })();
  return {
    port: listener.addr.port,
    state,
    async [Symbol.asyncDispose]() {
      over.resolve();
      listener.close();
      await accepted;
    },
  };
}
