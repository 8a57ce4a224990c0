import { attributesOnServer } from "../attributes/server_attributes.ts";
import { Files, type FilesSession } from "../files/files.ts";
import type { PathLimits } from "../files/path_limits.ts";
import { absolutePath } from "../model/absolute_path.ts";
import { httpError } from "../model/http_error.ts";
import { restrictionsOf } from "../model/identity.ts";
import { dependsOnDirectory, patternsOf } from "../model/wildcards.ts";
import type { Call } from "./call.ts";
import { capabilitiesOf, scopeWithin } from "./path_limits.ts";
import { checkLogin } from "./login_policy.ts";
import { withTemporaryPath } from "./access/drop/delete_part.ts";
import type { SharingParts } from "./share/sharing_parts.ts";
import { checkAvailable, existingServer, lowestLimit } from "./server_facts.ts";
import { checkTokenAddresses, checkTokenServer, confinedFrom } from "./token_limits.ts";

/**
 * Returns the files of the caller's account on the server of the request, by the rules for UFTP sessions (`openSession`):
 * login, token, account, path limits, rate limit.
 * @throws {ERR_UNKNOWN_SERVER | ERR_SERVER_DOWN | ERR_LIMITS_FROM_HOME | ERR_TOKEN_RESTRICTIONS |
 * ERR_STRONGER_LOGIN_NEEDED} And as attributes and daemons. Later also {ERR_OUTSIDE_LIMITS | ERR_OUTSIDE_CAPABILITIES}
 */
export async function ownFiles(
  call: Call,
  parts: Pick<SharingParts, "sessions" | "uploads">,
): Promise<Files> {
  const { name, instance, facts } = existingServer(call.server);
  const client = parts.sessions.get(name);
  if (client === undefined) throw httpError("ERR_UNKNOWN_SERVER");
  checkTokenServer(call, name);
  checkTokenAddresses(call, [call.clientAddress]);
  checkLogin(call, facts);
  const account = attributesOnServer(call.user, name, { log: call.log });
  checkAvailable({ facts, instance });
  const { uid, gid, groups: group } = account;
  call.audit({ uid, gid });
  const home = async () => {
    const info = await facts.daemons.userInfo(uid, call.signal);
    if (info.kind !== "known" || info.home === undefined) {
      throw httpError("ERR_NOT_FOUND", { what: "The home directory", reason: "the daemon reports none" });
    }
    return absolutePath(`${info.home}/`);
  };
  const limits = await fromHome(account, home);
  const common = {
    user: uid,
    group,
    rateLimit: lowestLimit(account.rateLimit, facts.reservations.limitFor(uid)),
    instance,
    limits: [limits],
    keep: true,
  };
  return new Files(
    client,
    (path) => ({ ...common, ...confined(call, path, limits) }),
    home,
    (part, work, replacement) =>
      withTemporaryPath({ server: name, uid, gid: group, part, replacement }, work, parts),
  );
}

/** Resolves relative patterns as a session in the home directory does. Suffix patterns (`*.txt`) apply everywhere. */
async function fromHome(
  { includes, excludes }: PathLimits,
  home: () => Promise<string>,
): Promise<PathLimits> {
  const patterns = [includes, excludes].flatMap((list) => patternsOf(list ?? ""));
  if (!patterns.some(dependsOnDirectory)) return { includes, excludes };
  const start = await home();
  const absolute = (list: string | undefined) =>
    list &&
    patternsOf(list).map((pattern) =>
      dependsOnDirectory(pattern) ? `${start}${pattern.replace(/^(?:\.\/+)+/, "")}` : pattern
    ).join(":");
  return { includes: absolute(includes), excludes: absolute(excludes) };
}

/** Returns the session for a path: it begins in the directory of the token that contains it, else at the root. */
function confined(
  call: Call,
  path: string,
  limits: PathLimits,
): Pick<FilesSession, "scope" | "within" | "permission"> {
  const capabilities = capabilitiesOf(call.caller);
  const directories = capabilities?.map(({ path }) => path) ?? restrictionsOf(call.caller).paths;
  const around = directories?.filter((directory) => `${path}/`.startsWith(directory)) ?? [];
  const [innermost = `${path}/`] = around.sort((a, b) => b.length - a.length); // which grants most
  const start = directories === undefined ? "/" : innermost;
  const { file, includes = "*", excludes, permission } = capabilities === undefined
    ? confinedFrom(call, start, limits)
    : { file: start, ...scopeWithin(capabilities, start, limits) };
  return { scope: { file, includes, excludes }, within: file, permission };
}
