import { mayAccess } from "../../attributes/access_rules.ts";
import type { AttributeSource } from "../../attributes/attribute_source.ts";
import { attributesOnServer, hasGroups } from "../../attributes/server_attributes.ts";
import { type UserAttributes, userAttributes } from "../../attributes/user_attributes.ts";
import type { AskAccountStatus } from "../../authentication/account_status.ts";
import type { Logger } from "../../logging/logger.ts";
import { httpError } from "../../model/http_error.ts";
import type { PathLimits } from "../../files/path_limits.ts";
import type { Making, NamedOwner, Share } from "../../sharing/share.ts";
import type { Call } from "../call.ts";
import { accountOn } from "./names.ts";

type OwnersAccount = Pick<Share, "server" | "uid" | "gid">;

/** Rights of absent owners. */
export class ShareOwners {
  constructor(
    readonly source: AttributeSource,
    readonly accountStatus: AskAccountStatus,
    readonly log: Logger,
  ) {
  }

  /** Returns what the sources alone say of the owner. @throws {ServiceError} If a source is out of order. */
  async mapped(
    dn: string,
    account: OwnersAccount,
    signal: AbortSignal,
  ): Promise<Pick<Making, "mappedAccount" | "mappedRole">> {
    const user = await this.#ask({ dn }, signal);
    return {
      mappedAccount: hasAccount({ user, log: this.log }, account),
      mappedRole: mayAccess("share", "POST", user.role),
    };
  }

  /**
   * Returns the owner's current limits, and those at creation. Shares of banned owners are not found; nor are shares
   * whose owner lost the account, or is unknown to the source that gave name, account or role.
   * @throws {ERR_SHARE_NOT_FOUND} @throws {ServiceError} If a source is out of order.
   */
  async limits(share: Share, signal: AbortSignal): Promise<readonly PathLimits[]> {
    const { owner, server, uid, made } = share;
    const named = made?.owner ?? { dn: owner, uid };
    await this.#checkAccountStatus(named, server, signal);
    const user = await this.#userNow(named.dn, share, signal);
    if (user.role === "banned") throw httpError("ERR_SHARE_NOT_FOUND", "the owner is banned");
    const account = user.uid === undefined || user.availableUids.includes(uid) ? uid : user.uid;
    const { includes, excludes, uid: now } = attributesOnServer({ ...user, uid: account }, server, {
      log: this.log,
    });
    if (now !== uid) throw httpError("ERR_SHARE_NOT_FOUND", "the account is not the owner's any more");
    return [
      { includes, excludes },
      ...(made === undefined ? [] : [made.limits]),
    ];
  }

  async #checkAccountStatus(owner: NamedOwner, server: string, signal: AbortSignal): Promise<void> {
    const accountStatus = await this.accountStatus(owner, signal);
    const elsewhere = accountStatus.kind === "known" && accountStatus.servers?.includes(server) === false;
    if (accountStatus.kind === "gone" || elsewhere) {
      throw httpError("ERR_SHARE_NOT_FOUND", "who named the owner does not know them any more");
    }
  }

  async #userNow(dn: string, share: Share, signal: AbortSignal): Promise<UserAttributes> {
    const { uid, made } = share;
    if (made?.mappedAccount || made?.mappedRole) {
      const user = await this.#ask({ dn }, signal);
      const accountLost = made.mappedAccount && !hasAccount({ user, log: this.log }, share);
      if (accountLost || (made.mappedRole && !mayAccess("share", "POST", user.role))) {
        throw httpError("ERR_SHARE_NOT_FOUND", "the owner has account or role no more");
      }
      if (made.mappedAccount) return user;
    }
    // The account came from the owner's authentication, which is absent now.
    return await this.#ask({ dn, uid }, signal);
  }

  #ask(who: { readonly dn: string; readonly uid?: string }, signal: AbortSignal): Promise<UserAttributes> {
    return userAttributes(this.source, { ...who, method: "SHARE", via: "share" }, {
      preferences: {},
      signal,
    });
  }
}

/** Reports whether a user has the account of a share, perhaps among several. */
export function hasAccount(
  { user, log }: Pick<Call, "user" | "log">,
  { server, uid, gid }: OwnersAccount,
): boolean {
  const chosen = user.availableUids.includes(uid) ? { ...user, uid } : user;
  const now = accountOn({ user: chosen, log }, server);
  return now?.uid === uid && hasGroups(now, gid);
}
