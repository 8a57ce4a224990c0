import { isAbsolute, resolve } from "node:path";
import { SILENT } from "../../logging/logger.ts";
import { counted, printable } from "../../model/text.ts";
import { corePermissions, edgePermissions, resolveHost } from "../../workers/permissions.ts";
import { loginPolicy } from "../../resource/login_policy.ts";
import type { Snapshot } from "../../service/assembly/load_snapshot.ts";
import { defineCommand } from "../command.ts";
import { checkOnline, type Finding } from "./check_online.ts";
import { configFile } from "../config_option.ts";
import { fixOf, withRemedy } from "./fix.ts";
import { inspectStart } from "./inspect.ts";
import { serviceAccount, unreadableFor } from "./service_account.ts";
import { AS_ROOT, SYSTEM_INFO } from "../system_info.ts";
import { certificateName } from "../../model/certificate_subject.ts";
import type { TlsMaterial } from "../../model/tls_material.ts";
import { describePermission, sortTrust } from "../../model/trust/trusted_certificates.ts";

/** Command `authserver check`: reports whether the service would start, and doubtful settings. */
export const check = defineCommand({
  name: "check",
  summary: "Check the configuration and all files that it names",
  details: [
    "Reads all files, tests the paths that the service writes to and whether it may listen on its addresses, and shows all findings with remedies. A port in use is no finding, since the running service may use it. If root runs it, it checks owners and modes of the files for the account of the service: the user of the installed unit, else the owner of the configuration's folder.",
    "Exit status 0: the service would start, though there may be warnings; 1: it would not start, or there are warnings (with --strict), or another system failed its test (with --online).",
  ],
  operands: {},
  options: {
    online: {
      help:
        "Test the connection to each daemon, identity provider, attribute source, database, log server, webhook and mail relay",
    },
    strict: { help: "Treat warnings as errors" },
    permissions: { help: "Print the permissions of the service's workers" },
  },
}, async (given, io) => {
  const file = await configFile(given);
  const isRoot = SYSTEM_INFO.uid() === 0;
  const account = isRoot ? await serviceAccount(resolve(file)) : undefined;
  const asRoot = isRoot && account === undefined;
  const found = await inspectStart(file, SYSTEM_INFO, { account });
  const hidden = account === undefined ? [] : await unreadableFor(account, found.dependsOn, resolve(file));
  const diagnostics = [...found.diagnostics, ...hidden].map((each) => ({ ...each, fix: fixOf(each) }));
  const snapshot = hidden.length === 0 ? found.snapshot : undefined;
  const permissions = given.flag("permissions") && snapshot ? await permissionLists(snapshot) : undefined;
  const trusted = snapshot?.material === undefined ? [] : trustedCertificates(snapshot.material);
  const logins = snapshot === undefined ? [] : loginsRequired(snapshot);
  const online = given.flag("online") && snapshot !== undefined
    ? await checkOnline(snapshot, { log: SILENT, clock: Date.now })
    : undefined;
  const strict = given.flag("strict");
  const ok = snapshot !== undefined && (online ?? []).every((finding) => finding.ok) &&
    !(strict && diagnostics.length > 0);
  const value = { ok, judgedAs: account?.name, asRoot, diagnostics, trusted, logins, permissions, online };
  for (const diagnostic of given.flag("json") ? [] : diagnostics) io.stderr(withRemedy(diagnostic));
  if (asRoot && !given.flag("json")) io.stderr(`note: ${AS_ROOT}\n`);
  const starts = snapshot !== undefined;
  const outcome = starts && !ok && strict && diagnostics.length > 0 ? NOT_STRICTLY : result(starts, online);
  const text = [
    given.text("config") === undefined && isAbsolute(file) ? `Configuration: ${file}\n` : "",
    account ? `Checked as the service account ${account.name}.\n` : "",
    trustedText(trusted),
    ...logins.map(({ server, requires }) => `${printable(`logins   ${server}: ${requires}`)}\n`),
    permissions ? permissionsText(permissions) : "",
    ...(online ?? []).map(findingLine),
    `${outcome}: ${countsOf(diagnostics)}.\n`,
  ];
  return { value, text: text.join(""), status: ok ? 0 : 1 };
});

const MAX_TRUSTED = 50; // most certificates to list: truststores of the grid hold hundreds

function trustedText(trusted: ReturnType<typeof trustedCertificates>): string {
  const lines = trusted.slice(0, MAX_TRUSTED).map(({ of, certificate, permits }) =>
    `${printable(`trusted  ${of}: ${certificate}: ${permits}`)}\n`
  );
  const more = trusted.length - lines.length;
  return [...lines, ...more > 0 ? [`trusted  ${more} more, see check --json\n`] : []].join("");
}

function loginsRequired({ config: { servers } }: Snapshot) {
  return servers.flatMap(({ name, logins }) => {
    const requires = loginPolicy(logins, Date.now)?.summary;
    return requires === undefined ? [] : [{ server: name, requires }];
  });
}

function findingLine({ system, address, ok, found, fix }: Finding): string {
  const line = `${printable(`${ok ? "ok    " : "failed"}  ${system} ${address}: ${found}`)}\n`;
  return fix === undefined ? line : `${line}  fix: ${printable(fix)}\n`;
}

const NOT_STRICTLY = "The service would start, but with warnings";

function result(starts: boolean, online: readonly Finding[] = []): string {
  const failed = online.filter(({ ok }) => !ok).length;
  if (!starts) return "The service would not start";
  return failed === 0
    ? "The configuration is valid"
    : `The service would start, but ${failed} of ${online.length} other systems cannot be used`;
}

function countsOf(diagnostics: readonly { readonly severity: string }[]): string {
  const warnings = diagnostics.filter(({ severity }) => severity === "warning").length;
  const errors = diagnostics.length - warnings;
  return `${counted(errors, "error", "errors")}, ${counted(warnings, "warning", "warnings")}`;
}

async function permissionLists({ config }: Snapshot) {
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
  return Object.entries(lists).flatMap(([worker, list]) => [
    `${worker}:\n`,
    ...Object.entries(list).map(([kind, allowed]) =>
      `  ${kind.padEnd(6)} ${allowed === false ? "nothing" : allowed.join("\n         ")}\n`
    ),
  ]).join("");
}

function trustedCertificates({ anchors, clients, providerAnchors, daemons = {} }: TlsMaterial) {
  const stores: (readonly [string, readonly string[] | undefined])[] = [
    ["all", anchors],
    ["clients", clients?.anchors],
    ["providers", providerAnchors],
    ...Object.entries(daemons).map(([server, { anchors }]) => [`daemons of ${server}`, anchors] as const),
  ];
  return stores.flatMap(([of, store = []]) => {
    const { issuers, entities } = sortTrust(store);
    return [...issuers, ...entities].map((trusted) => ({
      of,
      certificate: certificateName(trusted.certificate),
      permits: describePermission(trusted),
    }));
  });
}
