import { parsePreferences } from "../../attributes/user_attributes.ts";
import { readTokenRequest, type TokenIssuer } from "../../authentication/issued_token/issue.ts";
import { InvalidName } from "../../model/distinguished_name.ts";
import { HttpError } from "../../model/http_error.ts";
import { AdministrationError, type ShareAdministration } from "../../sharing/administration.ts";
import type { Share } from "../../sharing/share.ts";
import { EXPECTED_TARGET } from "../../sharing/target.ts";
import type { Call } from "../call.ts";
import { parseServerAddress } from "../requested_server.ts";
import type { ServerFacts } from "../server_facts.ts";
import { callerName } from "../share/names.ts";
import type { AdminApi } from "./admin_api.ts";

/** Dependencies of the actions. */
export interface ActionParts {
  readonly admin: AdminApi;
  readonly servers: ReadonlyMap<string, ServerFacts>;
  readonly tokens: TokenIssuer | undefined; // absent without a signing certificate
  readonly shareAdministration: ShareAdministration | undefined; // absent: data sharing is off
}

interface ActionResult {
  readonly success: boolean;
  readonly message: string; // for people
  readonly results?: Readonly<Record<string, unknown>>;
}

interface Action {
  readonly description: string;
  readonly required: readonly string[]; // names of parameters
  readonly optional: readonly string[];
  readonly run: (
    parameter: (name: string) => string | undefined,
    given: { readonly call: Call; readonly parts: ActionParts },
  ) => Promise<ActionResult>;
}

/** Actions by name (rest-api.md 1.14). */
export const ACTIONS: Readonly<Record<string, Action>> = {
  ShowUserInfo: {
    description: "parameters: uid, [serverName]",
    required: ["uid"],
    optional: ["serverName"],
    run: showUserInfo,
  },
  ModifyShare: {
    description: "parameters: id, serverName, [uid], [gid], [owner], [path], [target]",
    required: ["id", "serverName"],
    optional: ["uid", "gid", "owner", "path", "target"],
    run: modifyShare,
  },
  IssueAPIToken: {
    description: "parameters: subject, [lifetime, renewable, preferences]",
    required: ["subject"],
    optional: ["lifetime", "renewable", "preferences"],
    run: issueApiToken,
  },
  GetMemoryUsage: {
    description: "memory of the process, and of the heap of the worker that answers",
    required: [],
    optional: [],
    run: memoryUsage,
  },
};

const refused = (message: string): ActionResult => ({ success: false, message });

/** Asks daemons about an account, as `authserver user` does. */
async function showUserInfo(
  ...[parameter, { call, parts }]: Parameters<Action["run"]>
): Promise<ActionResult> {
  const uid = parameter("uid") ?? "";
  const server = parameter("serverName");
  call.audit({ user: uid.slice(0, 64), server: server === undefined ? undefined : nameOf(server) });
  if (server !== undefined && !parts.servers.has(nameOf(server))) return refused("No such server");
  const reports = await parts.admin.accounts(uid, server && nameOf(server), call.signal);
  return {
    success: true,
    message: `Getting info for <${uid}>${server === undefined ? "" : ` on server <${server}>`}`,
    results: Object.fromEntries(reports.map(({ server, ...report }) => [server, report])),
  };
}

/** Changes the terms of any user's share, mostly as `authserver share chown` does. */
async function modifyShare(
  ...[parameter, { call, parts: { shareAdministration } }]: Parameters<Action["run"]>
): Promise<ActionResult> {
  const server = nameOf(parameter("serverName") ?? "");
  call.audit({ server });
  if (shareAdministration === undefined) return refused("There is no data sharing");
  const changes = Object.fromEntries(
    (["owner", "target", "uid", "gid", "path"] as const).flatMap((name) => {
      const value = parameter(name);
      return value === undefined ? [] : [[name, value]];
    }),
  );
  try {
    const share = await shareAdministration.modify(server, parameter("id") ?? "", changes);
    const { owner, target, path, uid, gid } = share;
    call.audit({ owner, target, path, uid, gid });
    return { success: true, message: inWords(share) };
  } catch (error) {
    if (error instanceof AdministrationError) return refused(error.message);
    if (error instanceof InvalidName) {
      return refused(`owner: expected a distinguished name; target: ${EXPECTED_TARGET}`);
    }
    throw error;
  }
}

function inWords({ id, owner, target, path, access, uid, gid }: Share): string {
  return `Share ${id} of ${owner} for ${target}: ${path}, ${access}, as ${uid}${
    gid === undefined ? "" : `:${gid}`
  }`;
}

/**
 * Issues a token for another user; not to callers with an expiring or final token, who could extend theirs this
 * way.
 */
async function issueApiToken(
  ...[parameter, { call, parts: { tokens } }]: Parameters<Action["run"]>
): Promise<ActionResult> {
  const subject = parameter("subject") ?? "";
  call.audit({ user: subject.slice(0, 1024) });
  const { caller } = call;
  if (tokens === undefined) return refused("The server has no certificate to sign tokens with");
  if (caller.kind !== "authenticated" || caller.identity.issuedToken !== undefined) {
    return refused("Not for callers who show a token themselves");
  }
  if (caller.identity.bound) {
    return refused("Not for callers who logged in with a token that requires proof of possession");
  }
  const asked = new URLSearchParams();
  for (const name of ["lifetime", "renewable"]) {
    const value = parameter(name);
    if (value !== undefined) asked.set(name, value);
  }
  try {
    const { lifetime, renewable } = readTokenRequest(asked);
    call.audit({ renewable, lifetime });
    const preferences = parameter("preferences");
    if (preferences !== undefined) parsePreferences([preferences]);
    const by = callerName(caller);
    const wanted = { by, lifetime, renewable, preferences };
    return { success: true, message: "OK", results: { token: await tokens.issueFor(subject, wanted) } };
  } catch (error) {
    // Wrong parameters, and limits of the server's certificate.
    if (error instanceof HttpError) return refused(error.publicMessage);
    throw error;
  }
}

/** Returns figures in the form of the Java service. */
function memoryUsage(): Promise<ActionResult> {
  const { rss, heapTotal, heapUsed } = Deno.memoryUsage();
  const mb = (bytes: number) => `${Math.floor(bytes / 2 ** 20)}MB`;
  const Heap = `Committed:${mb(heapTotal)},Used:${mb(heapUsed)}`;
  return Promise.resolve({ success: true, message: "OK", results: { Process: `Used:${mb(rss)}`, Heap } });
}

/** Logical server, with or without the number of a daemon. */
function nameOf(server: string): string {
  return parseServerAddress(server).name;
}
