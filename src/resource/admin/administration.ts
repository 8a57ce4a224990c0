import { restrictionsOf } from "../../model/identity.ts";
import { isNarrow } from "../../model/token_restrictions.ts";
import { httpError } from "../../model/http_error.ts";
import type { HttpResponse } from "../../model/http_message.ts";
import type { Call } from "../call.ts";
import { checkLogin } from "../login_policy.ts";
import { membersOf, readJson, text } from "../request_body.ts";
import { type ServerFacts, statusText } from "../server_facts.ts";
import type { ServiceFacts } from "../service_section.ts";
import { jsonResponse } from "../text_response.ts";
import { type ActionParts, ACTIONS } from "./actions.ts";

/** Dependencies of the resource. */
export interface AdminParts extends ActionParts {
  readonly servers: ReadonlyMap<string, ServerFacts>;
  readonly facts: ServiceFacts;
}

/** `GET /rest/admin`: describes state and actions (rest-api.md 1.14). */
export function describeAdministration(call: Call, { servers, facts }: AdminParts): HttpResponse {
  checkAdministrator(call, servers);
  const here = `${call.base}/rest/admin`;
  const links = Object.entries(ACTIONS).map(([name, { description }]) => [
    `action:${name}`,
    { href: `${here}/actions/${name}`, description },
  ]);
  const members: [string, unknown][] = [
    ["upSince", javaDate(facts.upSince)],
    ["containerVersion", facts.version],
    ["connectionStatus", facts.externalConnections()],
    [
      "subSystemsStatus",
      Object.fromEntries(
        [...servers.values()].map(({ name, daemons }) => [name, statusText(daemons.status(), true)]),
      ),
    ],
    ["_links", { self: { href: here }, ...Object.fromEntries(links) }],
  ];
  const wanted = call.query.get("fields")?.split(",").map((name) => name.trim());
  return jsonResponse(Object.fromEntries(members.filter(([name]) => wanted?.includes(name) ?? true)));
}

/** Formats a time as Java's `Date`: `Mon Nov 23 22:03:24 UTC 2026`. */
function javaDate(at: number): string {
  const [weekday = "", day, month, year, time] = new Date(at).toUTCString().split(" ");
  return `${weekday.slice(0, 3)} ${month} ${day} ${time} UTC ${year}`;
}

/**
 * `POST /rest/admin/actions/<action>` with parameters as a JSON object; a failed action responds `success: false`
 * (rest-api.md 1.14). @throws {ServiceError} 400, 403, 404, and what the action throws.
 */
export async function carryOut(call: Call, parts: AdminParts): Promise<HttpResponse> {
  checkAdministrator(call, parts.servers);
  const name = call.params.get("action") ?? "";
  const action = Object.hasOwn(ACTIONS, name) ? ACTIONS[name] : undefined;
  if (action === undefined) throw httpError("ERR_NOT_FOUND", { where: "here" });
  call.audit({ task: name });
  const body = await readJson(call.request);
  const member = membersOf(body);
  const given = Object.keys(Object(body));
  const parameters = new Map(given.flatMap((key) => {
    const value = text(key.slice(0, 40), member(key));
    return value === undefined ? [] : [[key, value] as const];
  }));
  const { success, message, results = {} } = await outcome(action, parameters, { call, parts });
  call.audit({ done: success });
  return jsonResponse({ success, message, results });
}

function outcome(
  { required, optional, run }: typeof ACTIONS[string],
  parameters: ReadonlyMap<string, string>,
  { call, parts }: { readonly call: Call; readonly parts: AdminParts },
) {
  const missing = required.find((name) => !parameters.has(name));
  if (missing !== undefined) {
    return { success: false, message: `The '${missing}' parameter is required.`, results: {} };
  }
  const known = [...required, ...optional];
  if ([...parameters.keys()].some((name) => !known.includes(name))) {
    return {
      success: false,
      message: `Unknown parameter, expected ${known.join(", ") || "none"}`,
      results: {},
    };
  }
  return run((name) => parameters.get(name), { call, parts });
}

/**
 * Requires an administrator whose login counts on all servers: a name that some daemons vouch for may be another user's
 * elsewhere. Also without access control. @throws {ERR_FORBIDDEN | ERR_STRONGER_LOGIN_NEEDED}
 */
export function checkAdministrator(call: Call, servers: ReadonlyMap<string, ServerFacts>): void {
  const { user: { role, restricted }, caller } = call;
  if (isNarrow(restrictionsOf(caller))) {
    throw httpError("ERR_FORBIDDEN", "a narrowed token administers nothing");
  }
  if (!administers(call)) throw httpError("ERR_FORBIDDEN", `role ${role}`);
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
