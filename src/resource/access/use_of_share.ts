import type { Continuation, Share, UseKind } from "../../sharing/share.ts";
import type { DaemonSession } from "../../daemon/session/daemon_session.ts";
import type { TransferResult } from "../../daemon/session/download_stream.ts";
import type { ChangeOptions, SqlSteps } from "../../store/database.ts";
import type { HeaderList } from "../../model/http_message.ts";
import { httpError } from "../../model/http_error.ts";
import type { Call } from "../call.ts";
import { whyEnded } from "./running_uses.ts";
import { nameOnServer, shownName } from "../share/names.ts";
import type { SharingParts } from "../share/sharing_parts.ts";

/** Counted use of a share; can be given back before content is sent. A failure to record its end does not fail the request. */
export interface UseOfShare {
  /** Aborted when the request ends, the operator bans the caller, or the share no longer permits the use. */
  readonly signal: AbortSignal;
  release(): Promise<void>;
  /** Ends the use; gives back a download that failed before anything was sent. @param also Recorded with it. */
  finish(result: TransferResult & { readonly arrived?: boolean }, also?: () => SqlSteps<void>): Promise<void>;
}

/** Open session for a content. `begin` is called before it is read. */
export interface OpenedContent {
  readonly session: DaemonSession;
  readonly begin: (headers: HeaderList, ranged: boolean) => Promise<Pick<UseOfShare, "finish">>;
}

/** Begins the use of a share; sets the cookie by which a browser continues it. */
export type Begin = (headers: HeaderList, ranged: boolean) => Promise<UseOfShare>;

export interface UseFacts {
  readonly kind: Exclude<UseKind, "HTTP-look">;
  readonly path: string;
  readonly continues?: Continuation; // for downloads of limited shares
  /** Aborted when the operator bans the caller or the share no longer permits the use. */
  readonly ended?: AbortController;
  readonly also?: (() => SqlSteps<void>) | undefined; // recorded with it
  readonly options?: ChangeOptions; // default: waits for the disk; needless if a later change reaches it before any effect
  readonly free?: boolean; // whether owners look at their own share as its target sees it, which takes no use
}

/** Reserves one use atomically, or continues the caller's, and logs it. @throws {ERR_SHARE_NOT_FOUND} If none is left, or the share changed. */
export async function useShare(
  call: Call,
  share: Share,
  { kind, path, continues, also, options, free = false, ended = new AbortController() }: UseFacts,
  { store, transferred, uses, watch, running, clock }: SharingParts,
): Promise<UseOfShare & { unwatch(): void }> {
  const facts = factsOf(call, share, kind, path);
  const { address } = facts;
  const who = shownName(call, share.server);
  const start = { who, address, kind, path, continues };
  const claim = free
    ? await store.recordView(share.server, share.id, { who, address, kind: "HTTP-look", path })
    : await store.claim(share.server, share.id, start, { ...options, also });
  const why = claim && whyEnded({ share, address }, claim.share, clock);
  if (claim && why) await store.release(claim);
  if (!free && (!claim || why)) throw httpError("ERR_SHARE_NOT_FOUND", why ?? "used up since the request");
  call.audit(facts);
  call.log.info(claim?.continued ? "share use continued" : "share used", facts);
  const watches = [
    watch(call, (reason) => {
      call.log.warn("share use ended by a ban", facts);
      ended.abort(reason);
    }),
    running.add({
      share,
      address: free ? undefined : address,
      end: (why) => {
        call.log.warn("share use ended with its share", { ...facts, why });
        ended.abort(httpError("ERR_SHARE_NOT_FOUND", why));
      },
    }),
  ];
  const unwatch = () => watches.forEach((end) => end());
  const release = async () => {
    unwatch();
    if (claim) await uses.attempt(() => store.release(claim));
    call.log.info("share use released", facts);
  };
  return {
    signal: AbortSignal.any([call.signal, ended.signal]),
    unwatch,
    release,
    finish: async (result, also) => {
      unwatch();
      if (kind !== "HTTP-upload" && result.bytes === 0 && !result.complete) return await release();
      transferred?.(kind === "HTTP-upload" ? "upload" : "download", result.bytes);
      if (claim) await uses.attempt(() => store.finish(claim, result, also));
      call.log.info("share use ended", { ...facts, ...result });
    },
  };
}

/** Logs that the caller looked at a page of a share, which takes no use. */
export function recordView(call: Call, share: Share, path: string, { store }: SharingParts): Promise<void> {
  const facts = factsOf(call, share, "HTTP-look", path);
  call.audit(facts);
  const { address, via: kind } = facts;
  const who = shownName(call, share.server);
  return store.recordView(share.server, share.id, { who, address, kind, path });
}

/** Returns the fields of a use for logs. */
export function factsOf<K extends UseKind>(call: Call, { server, uid, gid }: Share, via: K, path: string) {
  return { via, server, who: nameOnServer(call, server), address: call.clientAddress, uid, gid, path };
}
