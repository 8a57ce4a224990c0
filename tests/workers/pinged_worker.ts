/** Worker with configurable behaviour: answers a number of pings, cannot start, or meets a defect. */

declare const self: {
  onmessage: ((event: MessageEvent<Told>) => void) | null;
  postMessage(message: unknown): void;
};

export type Told =
  | { readonly kind: "start"; readonly pongs: number }
  | { readonly kind: "ping" | "fail" | "break" | "end" };

let pongs = 0;
self.onmessage = ({ data }) => {
  switch (data.kind) {
    case "start":
      pongs = data.pongs;
      self.postMessage({ kind: "ready", port: 4711 });
      break;
    case "ping":
      if (pongs-- > 0) self.postMessage({ kind: "pong" });
      break;
    case "fail":
      self.postMessage({ kind: "failed", diagnostics: ["no place"] });
      break;
    case "break":
      throw new Error("a defect");
    case "end":
      self.postMessage({ kind: "closed" });
  }
};
