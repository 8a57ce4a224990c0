import { restrictionsInWords } from "../../authentication/issued_token/restrictions.ts";
import type { UserAttributes } from "../../attributes/user_attributes.ts";
import type { Capability, Identity } from "../../model/identity.ts";
import type {
  AuthenticatorStep,
  Explanation,
  ServerStep,
  SourceStep,
} from "../../service/explanation/explain.ts";
import { textTable } from "../command.ts";

/** Formats an explanation in the order in which the service decides. */
export function explanationText(explanation: Explanation): string {
  const { authenticators, token, caller, sources, user, mayAsk, servers, bans, refusal } = explanation;
  const lines = [
    ...section(
      "Token",
      token.map(({ authenticator, what, found, expected, ok }) => [
        `${authenticator} ${what}`,
        `${ok ? "ok" : "NOT MET"}: ${found === "" ? "nothing" : found}${ok ? "" : `, expected ${expected}`}`,
      ]),
    ),
    ...section("Authentication", authenticators.map(authenticatorLine)),
    ...caller ? [["Caller", caller.dn] as const, ...callerFacts(caller)] : [],
    ...section("Attributes", sources.map(sourceLine)),
    ...user ? [["User", userFacts(user)] as const] : [],
    ...mayAsk === undefined ? [] : [["Access", `may ${mayAsk ? "" : "not "}ask for sessions`] as const],
    ...section("Servers", servers.map(serverLine)),
    [
      "Bans",
      bans === undefined ? "not known: no running service answers" : `${bans.length} concern this user`,
    ],
    ...(bans ?? []).map(({ user = "everybody", address = "everywhere", reason, until }): Line => [
      "",
      `${user} from ${address} until ${new Date(until).toISOString()} (${reason})`,
    ]),
    ["Result", refusal === undefined ? "allowed" : `refused: ${refusal}`] as const,
  ];
  return textTable(lines);
}

type Line = readonly [left: string, right: string];

function section(title: string, lines: readonly Line[]): Line[] {
  return lines.length === 0 ? [] : [[title, ""], ...lines.map(([left, right]): Line => [`  ${left}`, right])];
}

function authenticatorLine({ authenticator, outcome, reason }: AuthenticatorStep): Line {
  const why = outcome === "skipped" ? "not its kind of credentials" : reason;
  return [authenticator, why === undefined ? outcome : `${outcome}: ${why}`];
}

function callerFacts({ uid, uidServers, role, groups, issuedToken, capabilities }: Identity): Line[] {
  const facts = [
    uid && `account ${uid}${uidServers ? `, proven on ${uidServers.join(", ")}` : ""}`,
    role && `role ${role}`,
    groups && `groups ${groups.join(", ")}`,
    capabilities && `limited by the token's scopes to ${inWords(capabilities)}`,
    issuedToken && `by a token of ${issuedToken.issuer}`,
    issuedToken?.restrictions && `restricted to ${restrictionsInWords(issuedToken.restrictions)}`,
  ];
  return facts.flatMap((fact): Line[] => fact ? [["", fact]] : []);
}

function inWords(capabilities: readonly Capability[]): string {
  if (capabilities.length === 0) return "nothing: no session is opened";
  const each = capabilities.map(({ access, path }) => `${access === "all" ? "all of" : "reading"} ${path}`);
  return each.join(", ");
}

function sourceLine({ source, entry, attributes = {}, failure, elsewhere }: SourceStep): Line {
  const name = elsewhere ? `${source} (other servers)` : source;
  if (failure !== undefined) return [name, `failed: ${failure}`];
  const values = Object.entries(attributes).map(([attribute, all]) => `${attribute} = ${all.join(", ")}`);
  const place = entry ? `${entry.file}:${entry.line}: ${entry.key}: ` : "";
  return [name, `${place}${values.length === 0 ? "knows nothing of this user" : values.join("; ")}`];
}

function userFacts(
  { role, availableRoles, uid, availableUids, group, availableGroups }: UserAttributes,
): string {
  return [
    `role ${choice(role, availableRoles)}`,
    uid === undefined ? "no account" : `account ${choice(uid, availableUids)}`,
    ...group === undefined ? [] : [`group ${choice(group, availableGroups)}`],
  ].join("; ");
}

function choice(chosen: string, available: readonly string[]): string {
  return available.length > 1 ? `${chosen} (of ${available.join(", ")})` : chosen;
}

function serverLine(step: ServerStep): Line {
  const { server, refusal, requires, uid, gid, rateLimit, reservationLimit, includes, excludes } = step;
  const { reservations = [] } = step;
  if (refusal !== undefined) return [server, `refused: ${refusal}`];
  const limit = rateLimit === undefined ? "no limit" : `at most ${rateLimit} bytes/s`;
  return [
    server,
    [
      `account ${uid}`,
      gid === undefined ? "the account's own group" : `group ${gid}`,
      reservationLimit === undefined ? limit : `${limit}, by reservation ${reservationLimit}`,
      ...requires === undefined ? [] : [`for ${requires}`],
      ...includes === undefined ? [] : [`only ${includes}`],
      ...excludes === undefined ? [] : [`without ${excludes}`],
      ...reservations.map((reservation) => `reservation ${reservation}`),
    ].join("; "),
  ];
}
