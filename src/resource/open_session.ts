import { attributesOnServer } from "../attributes/server_attributes.ts";
import type { SessionGrant } from "../daemon/daemon_group.ts";
import { canonicalAddress } from "../model/address.ts";
import type { HttpResponse } from "../model/http_message.ts";
import { httpError, invalidRequest } from "../model/http_error.ts";
import type { NameService } from "../outgoing/name_service.ts";
import type { Call } from "./call.ts";
import { capabilitiesOf, scopeWithin } from "./path_limits.ts";
import { checkLogin } from "./login_policy.ts";
import { checkAvailable, existingServer, lowestLimit } from "./server_facts.ts";
import { readJson } from "./request_body.ts";
import { parseSessionRequest } from "./session_request.ts";
import { jsonResponse } from "./text_response.ts";
import { checkTokenAddresses, checkTokenServer, confinedSession } from "./token_limits.ts";

const MAX_ADDRESSES = 16;

/**
 * Serves `POST /rest/auth/<server>[-<n>]`: announces the caller to a daemon (rest-api.md 1.10).
 * @param names Resolves host names among the client addresses; without it, they are dropped.
 */
export async function openSession(call: Call, names: NameService | undefined): Promise<HttpResponse> {
  const { name, instance, facts } = existingServer(call.server);
  const request = parseSessionRequest(await readJson(call.request));
  checkTokenServer(call, name);
  const clientAddresses = await addresses(request.client, call, names);
  checkTokenAddresses(call, clientAddresses);
  const admit = () => [call.clientAddress, ...clientAddresses].forEach((address) => call.admit(address));
  admit();
  checkLogin(call, facts, { addresses: [call.clientAddress, ...clientAddresses] });
  const options = { requestedGroup: request.group, log: call.log };
  const account = attributesOnServer(call.user, name, options);
  const { uid, gid, groups } = account;
  const capabilities = capabilitiesOf(call.caller);
  const session = capabilities !== undefined
    ? { file: request.file, ...scopeWithin(capabilities, request.file, account) }
    : await confinedSession(call, request.file, {
      limits: account,
      home: async () => {
        const info = await facts.daemons.userInfo(uid, call.signal);
        return info.kind === "known" ? info.home : undefined;
      },
    });
  checkAvailable({ facts, instance });

  call.audit({ uid, gid });
  const grant = await facts.daemons.openSession({
    user: uid,
    group: groups,
    clientAddresses,
    persistent: request.persistent,
    streams: request.streamCount,
    compress: request.compress,
    encryption: request.encryption,
    rateLimit: lowestLimit(account.rateLimit, facts.reservations.limitFor(uid)),
    ...session,
  }, { instance, signal: call.signal });
  admit(); // the daemon may have taken long
  const user = await call.userNow();
  const now = user && attributesOnServer(user, name, options);
  const members = ["uid", "groups", "rateLimit", "includes", "excludes"] as const;
  if (now && members.some((member) => now[member] !== account[member])) {
    throw httpError("ERR_PERMISSIONS_CHANGED", "the account or its limits changed since the request");
  }
  call.audit({ instance: grant.instance, daemon: `${grant.host}:${grant.port}` });
  return grantResponse(grant);
}

/** Returns the answer that stock clients read: `serverPort` is a number, and all five members are present. */
export function grantResponse({ host: serverHost, port: serverPort, secret }: SessionGrant): HttpResponse {
  return jsonResponse({ success: true, reason: "", serverHost, serverPort, secret: secret.reveal() });
}

/** Host names need the operator's consent: their DNS server decides where a session may be used from. */
async function addresses(
  given: readonly string[] | undefined,
  { clientAddress, log, signal }: Call,
  names: NameService | undefined,
): Promise<readonly string[]> {
  if (given === undefined) return [clientAddress];
  if (given.length > MAX_ADDRESSES) {
    throw invalidRequest(`client: expected at most ${MAX_ADDRESSES} addresses`);
  }
  const plain = given.map(canonicalAddress);
  const unknown = given.filter((_, i) => plain[i] === undefined);
  const resolved = await names?.addressesOf(unknown, { caller: clientAddress, signal });
  const dropped = resolved === undefined
    ? unknown.length
    : resolved.filter(({ length }) => length === 0).length;
  if (dropped > 0) {
    const why = resolved === undefined ? "are not looked up" : "have no address";
    log.info(`names of hosts in client ${why}`, { dropped });
  }
  const found = [...plain.filter((address) => address !== undefined), ...resolved?.flat() ?? []];
  return found.length === 0 ? [clientAddress] : [...new Set(found)].slice(0, MAX_ADDRESSES);
}
