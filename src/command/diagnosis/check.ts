import { isAbsolute, resolve } from "node:path";
import { SILENT } from "../../logging/logger.ts";
import { counted } from "../../model/counted.ts";
import { formatProblem } from "../../model/problem.ts";
import { corePermissions, edgePermissions } from "../../rooms/permissions.ts";
import { resolveHost } from "../../rooms/resolve_host.ts";
import { loginPolicy } from "../../resource/login_policy.ts";
import type { Setup } from "../../service/assembly/load_setup.ts";
import { defineCommand, tell } from "../command.ts";
import type { Finding } from "./check_online.ts";
import { configFile } from "../config_option.ts";
import { fixOf } from "./fix.ts";
import { inspect } from "./inspect.ts";
import { serviceAccount, unreadableFor } from "./service_account.ts";
import { printable } from "../../model/printable.ts";
import { type TrustedCertificate, trustedCertificates } from "./trusted_certificates.ts";

/** `authserver check`: whether the service would start, and all that is doubtful. */
export const check = defineCommand({
  name: "check",
  summary: "Check the configuration and all files that it names",
  details: [
    "All files are read and all findings shown in one pass, each with what to do about it. For root it judges as the account that the service runs as, the user of the installed unit or else the owner of the configuration's folder, by owners and modes of the files.",
    "Exit status 0: the service would start, though there may be warnings; 1: it would not start, or there are warnings (with --strict), or another system failed its test (with --online).",
  ],
  examples: {
    "authserver check": "Would the service start?",
    "authserver check --online": "Also tests connections and certificates of daemons and identity providers",
  },
  operands: {},
  options: {
    online: { help: "Test the connection to each daemon, identity provider and XUUDB" },
    strict: { help: "Treat warnings as errors" },
    permissions: { help: "Print the permissions of the service's workers" },
  },
  json: {
    "ok": "Whether the exit status is 0",
    "judgedAs?": "Account of the service, if another account ran this command",
    "problems[]": "Findings, in the order of the files",
    "problems[].severity?": "error or warning",
    "problems[].file?": "Where it is",
    "problems[].line?": "Counted from 1",
    "problems[].key?": "The key or entry",
    "problems[].found?": "Found value; missing if it may be secret",
    "problems[].expected?": "What was expected",
    "problems[].fix?": "What to do",
    "trusted[].of": "Truststore: all, clients, providers, or daemons of a server",
    "trusted[].certificate": "Subject of a trusted certificate",
    "trusted[].permits": "Rights of this certificate",
    "logins[].server": "Server with requirements for logins",
    "logins[].requires": "Requirements as text",
    "permissions.*?": "With --permissions: permissions of each worker, by kind; false is no permission",
    "online[].system?": "With --online: a daemon, identity provider or XUUDB",
    "online[].address?": "host:port",
    "online[].ok?": "Whether the test succeeded",
    "online[].found?": "What was found",
    "online[].fix?": "Suggested remedy, if known",
  },
}, async (given, io) => {
  const file = await configFile(given);
  const found = await inspect(file);
  const account = Deno.uid() === 0 ? await serviceAccount(resolve(file)) : undefined;
  const hidden = account === undefined ? [] : await unreadableFor(account, found.dependsOn);
  const problems = [...found.problems, ...hidden].map((problem) => ({ ...problem, fix: fixOf(problem) }));
  const setup = hidden.length === 0 ? found.setup : undefined;
  const permissions = given.flag("permissions") && setup !== undefined
    ? await permissionLists(setup)
    : undefined;
  const trusted = setup?.material === undefined ? [] : trustedCertificates(setup.material);
  const logins = setup === undefined ? [] : loginsRequired(setup);
  const online = given.flag("online") && setup !== undefined ? await lookAround(setup) : undefined;
  const strict = given.flag("strict");
  const ok = setup !== undefined && (online ?? []).every((finding) => finding.ok) &&
    !(strict && problems.length > 0);
  const value = {
    ok,
    judgedAs: account?.name,
    problems,
    trusted,
    logins,
    permissions,
    online,
  };
  for (const problem of given.flag("json") ? [] : problems) {
    io.stderr(`${problem.severity}: ${formatProblem(problem)}\n  fix: ${printable(problem.fix)}\n`);
  }
  const starts = setup !== undefined;
  const outcome = starts && !ok && strict && problems.length > 0 ? NOT_STRICTLY : verdict(starts, online);
  const text = [
    given.text("config") === undefined && isAbsolute(file) ? `Configuration: ${file}\n` : "",
    account ? `Checked as the service account ${account.name}.\n` : "",
    trustedText(trusted),
    ...logins.map(({ server, requires }) => `${printable(`logins   ${server}: ${requires}`)}\n`),
    permissions ? permissionsText(permissions) : "",
    ...(online ?? []).map(findingLine),
    `${outcome}: ${countsOf(problems)}.\n`,
  ];
  tell(given, io, { value, text: text.join("") });
  return ok ? 0 : 1;
});

/** Truststores of the grid hold hundreds. */
const MOST_TRUSTED = 50;

function trustedText(trusted: readonly TrustedCertificate[]): string {
  const lines = trusted.slice(0, MOST_TRUSTED).map(({ of, certificate, permits }) =>
    `${printable(`trusted  ${of}: ${certificate}: ${permits}`)}\n`
  );
  const more = trusted.length - lines.length;
  return [...lines, ...more > 0 ? [`trusted  ${more} more, see check --json\n`] : []].join("");
}

/** What servers require of logins, of those that require something. */
function loginsRequired({ config: { servers } }: Setup) {
  return servers.flatMap(({ name, logins }) => {
    const requires = loginPolicy(logins, Date.now)?.inWords;
    return requires === undefined ? [] : [{ server: name, requires }];
  });
}

function findingLine({ system, address, ok, found, fix }: Finding): string {
  const line = `${printable(`${ok ? "ok    " : "failed"}  ${system} ${address}: ${found}`)}\n`;
  return fix === undefined ? line : `${line}  fix: ${printable(fix)}\n`;
}

/** Loads what asks other systems only now: the process that runs a service has the commands in memory, too. */
async function lookAround(setup: Setup): Promise<readonly Finding[]> {
  const { checkOnline } = await import("./check_online.ts");
  return await checkOnline(setup, { log: SILENT, clock: Date.now });
}

const NOT_STRICTLY = "The service would start, but with warnings";

function verdict(starts: boolean, online: readonly Finding[] = []): string {
  const failed = online.filter(({ ok }) => !ok).length;
  if (!starts) return "The service would not start";
  return failed === 0
    ? "The configuration is valid"
    : `The service would start, but ${failed} of ${online.length} other systems cannot be used`;
}

function countsOf(problems: readonly { readonly severity: string }[]): string {
  const warnings = problems.filter(({ severity }) => severity === "warning").length;
  const errors = problems.length - warnings;
  return `${counted(errors, "error", "errors")}, ${counted(warnings, "warning", "warnings")}`;
}

async function permissionLists({ config }: Setup) {
  const [address = config.site.host] = await resolveHost(config.site.host);
  const { listen } = config.metrics;
  const metricsHost = listen?.host ?? "";
  const [metricsAddress = metricsHost] = listen === undefined ? [] : await resolveHost(metricsHost);
  return {
    edge: edgePermissions([
      { address, port: config.site.port },
      ...(listen === undefined ? [] : [{ address: metricsAddress, port: listen.port }]),
    ]),
    core: await corePermissions(config, resolveHost),
  };
}

function permissionsText(lists: Awaited<ReturnType<typeof permissionLists>>): string {
  return Object.entries(lists).flatMap(([room, list]) => [
    `${room}:\n`,
    ...Object.entries(list).map(([kind, allowed]) =>
      `  ${kind.padEnd(6)} ${allowed === false ? "nothing" : allowed.join("\n         ")}\n`
    ),
  ]).join("");
}
