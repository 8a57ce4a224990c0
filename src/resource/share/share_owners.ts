import { mayAccess } from "../../attributes/access_rules.ts";
import type { AttributeSource } from "../../attributes/attribute_source.ts";
import { hasGroups, localAttributes, type ServerAttributes } from "../../attributes/server_attributes.ts";
import { type UserAttributes, userAttributes } from "../../attributes/user_attributes.ts";
import type { AccountLookup } from "../../authentication/account_status.ts";
import type { Logger } from "../../logging/logger.ts";
import { httpError } from "../../model/http_error.ts";
import type { Identity } from "../../model/identity.ts";
import type { PathLimits } from "../../files/path_limits.ts";
import type { CreationRights, Share } from "../../sharing/share.ts";
import type { Call } from "../call.ts";
import { accountOn } from "./names.ts";

type Owner = Pick<Identity, "dn" | "uid" | "uidServers">;
type OwnersAccount = Pick<Share, "server" | "uid" | "gid">;

/** Rights of absent owners. */
export class ShareOwners {
  constructor(
    readonly source: AttributeSource,
    readonly accountStatus: AccountLookup,
    readonly log: Logger,
  ) {}

  /** Reports whether sources alone give group or role. @throws {ServiceError} If an outage hides it. */
  async mapped(
    login: Identity,
    account: OwnersAccount,
    signal: AbortSignal,
  ): Promise<Pick<CreationRights, "mappedGroup" | "mappedRole">> {
    const user = await this.#ask(login, signal);
    const mappedGroup = account.gid !== undefined &&
      accountOfShare({ user, log: this.log }, account) !== undefined;
    const mappedRole = mayAccess("share", "POST", user.role);
    if (user.outage !== undefined && !(mappedGroup && mappedRole)) throw user.outage;
    return { mappedGroup, mappedRole };
  }

  /**
   * Returns the owner's current limits, and those at creation. Shares of banned owners are not found; nor are shares
   * whose owner is unknown to the source of the name, would not get the account, or lost a group or role of the sources.
   * @throws {ERR_SHARE_NOT_FOUND} @throws {ServiceError} If a source is out of order.
   */
  async limits(share: Share, signal: AbortSignal): Promise<readonly PathLimits[]> {
    const { owner, server, uid, made } = share;
    const named = made?.owner ?? { dn: owner, uid };
    const status = await this.accountStatus(named, signal);
    if (status.kind === "gone") {
      throw httpError("ERR_SHARE_NOT_FOUND", "who named the owner does not know them any more");
    }
    const uidServers = status.kind === "known" ? status.servers : undefined;
    const login = { ...named, uidServers };
    const user = await this.#ask(login, signal);
    if (user.role === "banned") throw httpError("ERR_SHARE_NOT_FOUND", "the owner is banned");
    const hasRole = !made?.mappedRole || mayAccess("share", "POST", user.role);
    const now = accountOfShare({ user, log: this.log }, made?.mappedGroup ? share : { server, uid });
    if (!hasRole || now === undefined) {
      const lost = hasRole ? "account or group" : "role";
      throw user.outage ?? httpError("ERR_SHARE_NOT_FOUND", `the owner no longer has the ${lost}`);
    }
    const { includes, excludes } = now;
    return [{ includes, excludes }, ...(made === undefined ? [] : [made.limits])];
  }

  #ask(login: Owner, signal: AbortSignal): Promise<UserAttributes> {
    return userAttributes(this.source, absent(login), { preferences: {}, signal });
  }
}

function absent({ dn, uid, uidServers }: Owner): Identity {
  return { dn, uid, uidServers, method: "SHARE", via: "share", absent: true };
}

/** Returns a user's attributes with a share's account, perhaps one of several; undefined without it or one of its groups. */
export function accountOfShare(
  { user, log }: Pick<Call, "user" | "log">,
  { server, uid, gid }: OwnersAccount,
): ServerAttributes | undefined {
  const local = localAttributes(user, server);
  const now = accountOn({ user: local.availableUids.includes(uid) ? { ...local, uid } : local, log }, server);
  return now?.uid === uid && hasGroups(now, gid) ? now : undefined;
}
