import { restrictionsOf } from "../../model/identity.ts";
import { isRestricted } from "../../model/token_restrictions.ts";
import { HttpError, httpError } from "../../model/http_error.ts";
import type { HttpResponse } from "../../model/http_message.ts";
import type { Call } from "../call.ts";
import { checkLogin } from "../login_policy.ts";
import { membersOf, readJson, text } from "../request_body.ts";
import { parseServerAddress, type ServerFacts, statusText } from "../server_facts.ts";
import type { ServiceFacts } from "../service_section.ts";
import { jsonResponse } from "../text_response.ts";
import { parsePreferences } from "../../attributes/user_attributes.ts";
import { readTokenRequest, type TokenIssuer } from "../../authentication/issued_token/issue.ts";
import { InvalidName } from "../../model/distinguished_name.ts";
import { AdministrationError, type ShareAdministration } from "../../sharing/administration.ts";
import { EXPECTED_TARGET } from "../../sharing/share.ts";
import type { AdminApi } from "./admin_api.ts";

export interface AdminParts {
  readonly admin: Pick<AdminApi, "accounts">;
  readonly servers: ReadonlyMap<string, ServerFacts>;
  readonly tokens: TokenIssuer | undefined; // absent without a signing certificate
  readonly shareAdministration: Pick<ShareAdministration, "modify"> | undefined; // absent: data sharing is off
  readonly facts: ServiceFacts;
}

/** Serves `GET /rest/admin`: describes state and actions (rest-api.md 1.14). */
export function describeAdministration(call: Call, { servers, facts }: AdminParts): HttpResponse {
  checkAdministrator(call, servers);
  const here = `${call.base}/rest/admin`;
  const links = Object.entries(ACTIONS).map(([name, { description }]) => [
    `action:${name}`,
    { href: `${here}/actions/${name}`, description },
  ]);
  const [weekday = "", day, month, year, time] = new Date(facts.upSince).toUTCString().split(" ");
  const states = servers.values().map(({ name, daemons }) => [name, statusText(daemons.status(), true)]);
  const members: [string, unknown][] = [
    ["upSince", `${weekday.slice(0, 3)} ${month} ${day} ${time} UTC ${year}`], // as Java's `Date` prints it
    ["containerVersion", facts.version],
    ["connectionStatus", facts.externalConnections()],
    ["subSystemsStatus", Object.fromEntries(states)],
    ["_links", { self: { href: here }, ...Object.fromEntries(links) }],
  ];
  const wanted = call.query.get("fields")?.split(",").map((name) => name.trim());
  return jsonResponse(Object.fromEntries(members.filter(([name]) => wanted?.includes(name) ?? true)));
}

/** Serves `POST /rest/admin/actions/<action>`; a failed action responds `success: false` (rest-api.md 1.14). */
export async function carryOut(call: Call, parts: AdminParts): Promise<HttpResponse> {
  checkAdministrator(call, parts.servers);
  const name = call.params.get("action") ?? "";
  const action = Object.hasOwn(ACTIONS, name) ? ACTIONS[name] : undefined;
  if (action === undefined) throw httpError("ERR_NOT_FOUND", { what: "This page" });
  call.audit({ task: name });
  const body = await readJson(call.request);
  const member = membersOf(body);
  const given = Object.keys(Object(body));
  const parameters = new Map(given.flatMap((key) => {
    const value = text(key.slice(0, 40), member(key));
    return value === undefined ? [] : [[key, value] as const];
  }));
  const { success, message, results = {} } = await runAction(action, parameters, call, parts);
  call.audit({ done: success });
  return jsonResponse({ success, message, results });
}

function runAction(
  { required, optional, run }: typeof ACTIONS[string],
  parameters: ReadonlyMap<string, string>,
  call: Call,
  parts: AdminParts,
) {
  const missing = required.find((name) => !parameters.has(name));
  if (missing !== undefined) return refused(`The '${missing}' parameter is required.`);
  const known = [...required, ...optional];
  if ([...parameters.keys()].some((name) => !known.includes(name))) {
    return refused(`Unknown parameter, expected ${known.join(", ") || "none"}`);
  }
  return run(Object.fromEntries(parameters), call, parts);
}

/**
 * Requires an administrator, also without access control, whose login is valid on all servers: a name for which only
 * some daemons vouch may belong to another user elsewhere. @throws {ERR_FORBIDDEN | ERR_STRONGER_LOGIN_NEEDED}
 */
export function checkAdministrator(call: Call, servers: ReadonlyMap<string, ServerFacts>): void {
  const { user: { role, restricted, outage }, caller } = call;
  if (isRestricted(restrictionsOf(caller))) {
    throw httpError("ERR_FORBIDDEN", "a restricted token administers nothing");
  }
  if (!administers(call)) throw outage ?? httpError("ERR_FORBIDDEN", `role ${role}`);
  const other = restricted && [...servers.keys()].find((name) => !restricted.servers.includes(name));
  if (other !== undefined) {
    throw httpError("ERR_FORBIDDEN", `signed in by a key that is not the user's on ${other}`);
  }
  for (const server of servers.values()) checkLogin(call, server);
}

/** Reports whether a browser's user may act as administrator on pages, since browsers send no preferences. */
export function administers(
  { user: { role, availableRoles }, signIn }: Pick<Call, "user" | "signIn">,
): boolean {
  return role === "admin" || (signIn !== undefined && role !== "banned" && availableRoles.includes("admin"));
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
  readonly run: (given: Given, call: Call, parts: AdminParts) => Promise<ActionResult>;
}

/** Parameters of an action, by the names that it knows. */
type Given = Readonly<Partial<Record<string, string>>>;

/** Actions by name (rest-api.md 1.14). */
const ACTIONS: Readonly<Record<string, Action>> = {
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
async function showUserInfo(given: Given, call: Call, parts: AdminParts): Promise<ActionResult> {
  const { uid = "", serverName: server } = given;
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
  { serverName = "", id = "", ...changes }: Given,
  call: Call,
  { shareAdministration }: AdminParts,
): Promise<ActionResult> {
  const server = nameOf(serverName);
  call.audit({ server });
  if (shareAdministration === undefined) return refused("There is no data sharing");
  try {
    const share = await shareAdministration.modify(server, id, changes);
    const { owner, target, path, access, uid, gid } = share;
    call.audit({ owner, target, path, uid, gid });
    const account = gid === undefined ? uid : `${uid}:${gid}`;
    const message = `Share ${share.id} of ${owner} for ${target}: ${path}, ${access}, as ${account}`;
    return { success: true, message };
  } catch (error) {
    if (error instanceof AdministrationError) return refused(error.message);
    if (error instanceof InvalidName) {
      return refused(`owner: expected a distinguished name; target: ${EXPECTED_TARGET}`);
    }
    throw error;
  }
}

/** Issues a token for another user; not to callers with a token, who could extend theirs this way. */
async function issueApiToken(
  { subject = "", preferences, ...query }: Given,
  call: Call,
  { tokens }: AdminParts,
): Promise<ActionResult> {
  call.audit({ user: subject.slice(0, 1024) });
  const { caller } = call;
  if (tokens === undefined) return refused("The server has no certificate to sign tokens with");
  if (caller.kind !== "authenticated" || caller.identity.issuedToken !== undefined) {
    return refused("Not for callers who show a token themselves");
  }
  if (caller.identity.bound) {
    return refused("Not for callers who logged in with a token that requires proof of possession");
  }
  try {
    const { lifetime, renewable } = readTokenRequest(
      new URLSearchParams(Object.entries(query).map(([name, value = ""]) => [name, value])),
    );
    call.audit({ renewable, lifetime });
    if (preferences !== undefined) parsePreferences([preferences]);
    const token = await tokens.issueFor(subject, caller.identity, { lifetime, renewable, preferences });
    return { success: true, message: "OK", results: { token } };
  } catch (error) {
    // Wrong parameters, and limits of the server's certificate.
    if (error instanceof HttpError) return refused(error.publicMessage);
    throw error;
  }
}

function memoryUsage(): Promise<ActionResult> {
  const { rss, heapTotal, heapUsed } = Deno.memoryUsage();
  const mb = (bytes: number) => `${Math.floor(bytes / 2 ** 20)}MB`;
  const Heap = `Committed:${mb(heapTotal)},Used:${mb(heapUsed)}`;
  return Promise.resolve({ success: true, message: "OK", results: { Process: `Used:${mb(rss)}`, Heap } });
}

/** Returns the logical server of a name with or without the number of a daemon. */
function nameOf(server: string): string {
  return parseServerAddress(server).name;
}
