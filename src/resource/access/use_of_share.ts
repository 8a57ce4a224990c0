import type { Share, UseKind } from "../../sharing/share.ts";
import type { TransferResult } from "../../daemon/session/download_stream.ts";
import { httpError } from "../../model/http_error.ts";
import type { Call } from "../call.ts";
import { nameOnServer } from "../share/names.ts";
import type { SharingParts } from "../share/sharing_parts.ts";

/** Counted use of a share; can be given back while nothing was sent. If its end cannot be recorded, the request goes on. */
export interface UseOfShare {
  /** Aborted when the request ends, the operator bans the caller, or the share no longer permits the use. */
  readonly signal: AbortSignal;
  giveBack(): Promise<void>;
  /** Ends the use; gives it back if it failed before anything was sent. */
  finish(result: TransferResult): Promise<void>;
}

/** Reserves one use of a share atomically and logs it. @throws {ERR_SHARE_NOT_FOUND} If another request took the last use. */
export async function useShare(
  call: Call,
  share: Share,
  { kind, path }: { readonly kind: UseKind; readonly path: string },
  { store, transferred, uses, watch, running }: SharingParts,
): Promise<UseOfShare> {
  const who = nameOnServer(call, share.server);
  const address = call.clientAddress;
  const claim = await store.claim(share.server, share.id, { who, address, kind, path });
  if (claim === undefined) throw httpError("ERR_SHARE_NOT_FOUND", "used up while the request was under way");
  const facts = { via: kind, server: share.server, who, address, uid: share.uid, gid: share.gid, path };
  call.audit(facts);
  call.log.info("share used", facts);
  const ended = new AbortController();
  const watches = kind === "UFTP" ? [] : [
    watch(call, (reason) => {
      call.log.warn("share use ended by a ban", facts);
      ended.abort(reason);
    }),
    running.add({
      share,
      address,
      end: (why) => {
        call.log.warn("share use ended with its share", { ...facts, why });
        ended.abort(httpError("ERR_SHARE_NOT_FOUND", why));
      },
    }),
  ];
  const unwatch = () => watches.forEach((end) => end());
  const giveBack = async () => {
    unwatch();
    await uses.attempt(() => store.giveBack(claim));
    call.log.info("share use given back", facts);
  };
  return {
    signal: AbortSignal.any([call.signal, ended.signal]),
    giveBack,
    finish: async (result) => {
      unwatch();
      if (result.bytes === 0 && !result.complete) return await giveBack();
      transferred?.(kind === "HTTP-upload" ? "upload" : "download", result.bytes);
      await uses.attempt(() => store.finish(claim, result));
      call.log.info("share use ended", { ...facts, ...result });
    },
  };
}
