/**
 * Lets the workers of a program that tests start take part in `guard_process.ts`: each file with switches loads this first. A
 * worker asks on a channel which guard is removed, and tells there which are reached.
 */
export const CHANNEL = "removed guards";

/** What goes through the channel; `removed` is absent if all guards are in place. */
export type GuardMessage =
  | { readonly kind: "set"; readonly removed?: string | undefined }
  | { readonly kind: "began" }
  | { readonly kind: "reached"; readonly guard: string };

declare global {
  /** Tells whether a guard whose condition is true is to do nothing. */
  var guardIsRemoved: ((guard: string) => boolean) | undefined;
}

if (globalThis.guardIsRemoved === undefined && "WorkerGlobalScope" in globalThis) {
  const channel = new BroadcastChannel(CHANNEL);
  const tell = (message: GuardMessage) => channel.postMessage(message);
  let removed: string | undefined;
  const reached = new Set<string>();
  channel.onmessage = ({ data }: MessageEvent<GuardMessage>) => {
    if (data.kind !== "set") return;
    removed = data.removed;
    reached.clear();
  };
  globalThis.guardIsRemoved = (guard) => {
    if (!reached.has(guard)) tell({ kind: "reached", guard });
    reached.add(guard);
    return guard === removed;
  };
  tell({ kind: "began" });
}
