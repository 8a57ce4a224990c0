import { absolutePath } from "../model/absolute_path.ts";
import { isAccountName, isPrivilegedAccount } from "../model/account_name.ts";
import type { Clock } from "../model/clock.ts";
import { canonicalDn } from "../model/distinguished_name.ts";
import { isHttpError } from "../model/http_error.ts";
import { parseShareDump } from "./import/share_dump.ts";
import type { Share, Use } from "./share.ts";
import { isShareId } from "./share_id.ts";
import { parseTarget } from "./target.ts";
import type { ShareStore } from "./store/share_store.ts";

/** An operator's request that cannot be carried out; the message says why. */
export class AdministrationError extends Error {
  override readonly name = "AdministrationError";
}

/** What an administrator can say of a share; a path that ends in a slash is a directory. */
type ShareAmendment = Partial<Pick<Share, "owner" | "target" | "uid" | "gid" | "path">>;

/** What the operator can do about shares, whoever owns them: `authserver share …`. */
export class ShareAdministration {
  constructor(readonly store: ShareStore, readonly clock: Clock) {}

  /** `list`: shares of one server or all, of one owner or all. @param filter.owner In any spelling. */
  async list(filter: { readonly server?: string; readonly owner?: string } = {}): Promise<readonly Share[]> {
    const shares = await this.store.all(filter.server);
    if (filter.owner === undefined) return shares;
    const owner = canonicalDn(filter.owner);
    return shares.filter((share) => share.owner === owner);
  }

  /** `show`: one share with its latest uses. @throws {AdministrationError} */
  async show(id: string, server?: string): Promise<{ readonly share: Share; readonly uses: readonly Use[] }> {
    const share = await this.#find(id, server);
    return { share, uses: await this.store.usesOf(share.server, share.id, 1000) };
  }

  /** `remove`. @throws {AdministrationError} */
  async remove(id: string, server?: string): Promise<Share> {
    const share = await this.#find(id, server);
    await this.store.remove(share.server, share.id);
    return share;
  }

  /**
   * `chown`: gives a share to another owner, under their account.
   * @throws {AdministrationError | InvalidName}
   */
  async chown(
    id: string,
    to: { readonly owner: string; readonly uid: string; readonly gid?: string },
    server?: string,
  ): Promise<Share> {
    checkAccounts(to.uid, to.gid);
    const share = await this.#find(id, server);
    const { gid: _gid, ...rest } = share;
    return await this.#amend({ ...rest, ...to, owner: canonicalDn(to.owner) });
  }

  /**
   * `ModifyShare`: other terms for a share of one server, as an administrator says them; what is not named stays.
   * @throws {AdministrationError | InvalidName}
   */
  async modify(server: string, id: string, to: ShareAmendment): Promise<Share> {
    const share = isShareId(id) ? await this.store.get(server, id) : undefined;
    if (share === undefined) throw new AdministrationError("There is no such share");
    checkAccounts(to.uid, to.gid);
    return await this.#amend({
      ...share,
      ...to,
      ...(to.owner !== undefined && { owner: canonicalDn(to.owner) }),
      ...(to.target !== undefined && { target: parseTarget(to.target) }),
      ...(to.path !== undefined && { path: normalPath(to.path) }),
    });
  }

  async #amend(share: Share): Promise<Share> {
    const changed = await this.store.amend(share.server, share.id, share);
    if (changed === undefined) throw new AdministrationError(`Share ${share.id} has just ended`);
    return changed;
  }

  /**
   * `import`: takes shares from a dump; nothing of it if anything in it is wrong. Ids that are there already stay as they
   * are and are reported.
   * @throws {InvalidFile}
   */
  async import(
    text: string,
    source: { readonly file: string; readonly server?: string; readonly servers: readonly string[] },
  ): Promise<{ readonly added: number; readonly present: readonly string[] }> {
    const shares = parseShareDump(text, { ...source, now: this.clock() });
    const present: string[] = [];
    for (const share of shares) {
      if (!await this.store.add(share)) present.push(share.id);
    }
    return { added: shares.length - present.length, present };
  }

  async #find(id: string, server?: string): Promise<Share> {
    const found = (await this.store.all(server)).filter((share) => share.id === id);
    if (found.length > 1) throw new AdministrationError(`Share ${id} is on several servers, name one`);
    const [share] = found;
    if (share === undefined) throw new AdministrationError(`There is no share ${id}`);
    return share;
  }
}

/** @throws {AdministrationError} */
function checkAccounts(...names: readonly (string | undefined)[]): void {
  for (const name of names) {
    if (name === undefined || (isAccountName(name) && !isPrivilegedAccount(name))) continue;
    throw new AdministrationError(
      `${JSON.stringify(name)} is not the name of an unprivileged account or group`,
    );
  }
}

/** @throws {AdministrationError} */
function normalPath(path: string): string {
  try {
    return absolutePath(path);
  } catch (error) {
    if (isHttpError(error, "ERR_INVALID_PATH")) throw new AdministrationError(`path: ${error.publicMessage}`);
    throw error;
  }
}
