import { absolutePath } from "../model/absolute_path.ts";
import { attempt } from "../model/attempt.ts";
import { isUserAccount } from "../model/account_name.ts";
import type { Clock } from "../model/clock.ts";
import { canonicalDn } from "../model/distinguished_name.ts";
import { HttpError } from "../model/http_error.ts";
import { type Diagnostic, InvalidFile, OperatorError } from "../model/diagnostic.ts";
import { readShareDump, type ReadShares } from "./import/share_dump.ts";
import { isShareId, parseTarget, type Share, type Use } from "./share.ts";
import type { Listed, Page, Place, ShareStore } from "./store/share_store.ts";

const PAGE = 1000;
const MAX_SCAN = 50_000; // shares to read for a page, if most of the preceding ones were expired

/** Error for the operator. */
export class AdministrationError extends OperatorError {}

/** Result of an import, with one count for a share for several servers. */
export interface Imported {
  readonly added: number;
  readonly present: readonly string[]; // ids that existed before
  readonly ended: number; // expired
  readonly refused: number; // invalid
  readonly diagnostics: readonly Diagnostic[];
}

const IMPORT_BATCH = 200;

/** Fields that an administrator can change; a path that ends in a slash is a directory. */
type ShareAmendment = Partial<Pick<Share, "owner" | "target" | "uid" | "gid" | "path">>;

/** Operations of `authserver share …`, on shares of all owners. */
export class ShareAdministration {
  constructor(readonly store: ShareStore, readonly clock: Clock) {}

  /** Lists shares in pages; the last one names the next start. @throws {AdministrationError} If `part.after` is unknown. */
  async *list(
    { server, owner }: Listed = {},
    { after, most = Infinity }: { readonly after?: Pick<Share, "server" | "id">; readonly most?: number } =
      {},
  ): AsyncGenerator<Page> {
    const of = { server, owner: owner === undefined ? undefined : canonicalDn(owner) };
    let place = after && await this.#place(after, of);
    let [left, scan] = [most, PAGE];
    do {
      const page = await this.store.page(of, { after: place, most: PAGE, scan });
      scan = page.shares.length < PAGE / 4 ? MAX_SCAN : PAGE;
      const shares = page.shares.slice(0, left);
      place = shares.length < page.shares.length ? shares.at(-1) : page.next;
      left -= shares.length;
      yield { shares, next: place };
    } while (place !== undefined && left > 0);
  }

  /** Returns the position of a share; reads its age only for an owner's list, which is ordered by it. */
  async #place({ server, id }: Pick<Share, "server" | "id">, { owner }: Listed): Promise<Place> {
    if (owner === undefined) return { server, id, created: 0 };
    const share = await this.store.get(server, id);
    if (share === undefined) throw new AdministrationError(`There is no share ${id} on ${server} any more`);
    return share;
  }

  /** Returns a share with its latest uses. @throws {AdministrationError} */
  async show(id: string, server?: string): Promise<{ readonly share: Share; readonly uses: readonly Use[] }> {
    const share = await this.#find(id, server);
    return { share, uses: await this.store.usesOf(share.server, share.id, 1000) };
  }

  async remove(id: string, server?: string): Promise<Share> {
    const share = await this.#find(id, server);
    await this.store.remove(share.server, share.id);
    return share;
  }

  /** Gives a share to another owner and account. @throws {AdministrationError | InvalidName} */
  async chown(
    id: string,
    to: { readonly owner: string; readonly uid: string; readonly gid?: string },
    server?: string,
  ): Promise<Share> {
    checkAccounts(to.uid, ...to.gid?.split(":") ?? []);
    const { gid: _gid, ...rest } = await this.#find(id, server);
    return await this.#amend({ ...rest, ...to, owner: canonicalDn(to.owner) });
  }

  /** Changes a share (`ModifyShare`); keeps absent fields. @throws {AdministrationError | InvalidName} */
  async modify(server: string, id: string, to: ShareAmendment): Promise<Share> {
    const share = (isShareId(id) ? await this.store.withId(id) : []).find((each) => each.server === server);
    if (share === undefined) throw new AdministrationError("There is no such share");
    checkAccounts(to.uid, ...to.gid?.split(":") ?? []);
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

  /** Imports a dump; skips existing ids. @param source.partial Imports the valid entries. @throws {InvalidFile} */
  async import(
    text: string,
    { partial = false, ...source }: {
      readonly file: string;
      readonly server?: string;
      readonly servers: readonly string[];
      readonly partial?: boolean;
    },
  ): Promise<Imported> {
    const read = readShareDump(text, { ...source, now: this.clock() });
    if (read.diagnostics.length > 0 && !partial) throw new InvalidFile(read.diagnostics);
    return await this.take(read);
  }

  async take({ shares, ...left }: ReadShares): Promise<Imported> {
    const [added, present] = [new Set<string>(), new Set<string>()];
    for (let from = 0; from < shares.length; from += IMPORT_BATCH) {
      const ids = await this.store.addAll(shares.slice(from, from + IMPORT_BATCH));
      for (const each of ids) (each.added ? added : present).add(each.id);
    }
    return { added: added.size, present: [...present.difference(added)], ...left };
  }

  async #find(id: string, server?: string): Promise<Share> {
    const [share, another] = server === undefined
      ? await this.store.withId(id)
      : [await this.store.get(server, id)];
    if (another !== undefined) throw new AdministrationError(`Share ${id} is on several servers, name one`);
    if (share === undefined) throw new AdministrationError(`There is no share ${id}`);
    return share;
  }
}

function checkAccounts(...names: readonly (string | undefined)[]): void {
  for (const name of names) {
    if (name === undefined || isUserAccount(name)) continue;
    throw new AdministrationError(
      `${JSON.stringify(name)} is not the name of an unprivileged account or group`,
    );
  }
}

function normalPath(path: string): string {
  return attempt(() => absolutePath(path), HttpError, ({ publicMessage }) => {
    throw new AdministrationError(`path: ${publicMessage}`);
  });
}
