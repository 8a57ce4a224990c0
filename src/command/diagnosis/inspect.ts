import { onError } from "../../model/attempt.ts";
import type { EffectiveValue } from "../../config/key_reader.ts";
import { type Diagnostic, InvalidFile, isError } from "../../model/diagnostic.ts";
import { type CertificateFiles, loadSnapshot, type Snapshot } from "../../service/assembly/load_snapshot.ts";
import { inspectPlaces } from "./inspect_places.ts";
import { SYSTEM_INFO } from "../system_info.ts";
import type { KindInspection, KnownUser, WrittenName } from "../../config/kind.ts";
import type { AssignmentsConfig } from "../../config/read_assignments.ts";
import type { ServiceConfig } from "../../config/service_config.ts";
import { canonicalDn, ifValidDn, reversedForm } from "../../model/distinguished_name.ts";
import { inspectFile } from "../../model/regular_file.ts";
import { configuredKinds, KINDS } from "../../service/kinds.ts";

/** Result of reading a configuration without starting anything. */
interface Inspection {
  readonly snapshot?: Snapshot; // absent after an error: the service would not start
  readonly diagnostics: readonly Diagnostic[]; // in the order of the files, the main file first
  readonly files: CertificateFiles;
  /** Absolute paths of all files that the configuration names, as far as known. */
  readonly dependsOn: readonly string[];
  readonly effective: readonly EffectiveValue[];
}

const NOTHING: DataFiles = {
  authentication: { authenticators: [] },
  attributes: { sources: [] },
  dynamicAttributes: { sources: [] },
  servers: [],
};

/** Reads and cross-checks the configuration and its files. Changes nothing. */
export async function inspect(mainFile: string, systemInfo = SYSTEM_INFO): Promise<Inspection> {
  const loaded = await loadSnapshot(mainFile, systemInfo);
  const { snapshot, readable, serverNames, unreadable, files, effective, dependsOn } = loaded;
  const found = await inspectDataFiles({ ...NOTHING, ...readable, serverNames });
  const diagnostics = [...loaded.diagnostics, ...found.filter(({ file }) => !unreadable.includes(file))];
  const usable = diagnostics.some(isError) ? undefined : snapshot;
  return { snapshot: usable, diagnostics, files, effective, dependsOn };
}

/**
 * Inspects the configuration, its files, directories and listen addresses. `check`, `serve` and reload share it, so that
 * they agree.
 * @param options See `inspectPlaces()`.
 */
export async function inspectStart(
  mainFile: string,
  systemInfo = SYSTEM_INFO,
  options: Parameters<typeof inspectPlaces>[1] = {},
): Promise<Inspection> {
  const { snapshot, ...found } = await inspect(mainFile, systemInfo);
  if (snapshot === undefined) return found;
  const places = await inspectPlaces({ snapshot, effective: found.effective }, options);
  const diagnostics = [...found.diagnostics, ...places];
  return places.some(isError) ? { ...found, diagnostics } : { ...found, snapshot, diagnostics };
}

type DataFiles =
  & Parameters<typeof configuredKinds>[0]
  & Pick<ServiceConfig, "servers">
  & Partial<Pick<ServiceConfig, "issuedTokens" | "gateway">>
  & { readonly serverNames?: readonly string[] }; // all names, even of unusable servers; absent if unknown

/** Reads the data files as the service will. Errors prevent a start; skipped lines or entries are warnings. */
export async function inspectDataFiles(config: DataFiles, kinds = KINDS): Promise<readonly Diagnostic[]> {
  const { attributes, dynamicAttributes, servers, serverNames, issuedTokens, gateway } = config;
  const alone = attributes.sources.length === 1 && dynamicAttributes.sources.length === 0;
  const ofKinds = await configuredKinds(config, kinds);
  const [inspections, found] = await Promise.all([
    Promise.all(
      ofKinds.map(({ config, kind }) =>
        kind.inspect?.(config, { servers: serverNames, alone, inspectExpressions })
      ),
    ),
    Promise.all([
      ...servers.map(({ reservations }) => reservations && inspectReservations(reservations)),
      ...(issuedTokens?.trustedIssuerFiles ?? []).map(async (file) =>
        inspectBy((await certificateFiles()).readTrustedIssuer(file))
      ),
      gateway?.enabled && gateway.certificate !== undefined
        ? inspectBy((await certificateFiles()).readGatewayCertificate(gateway.certificate))
        : undefined,
    ]),
  ]);
  const inspected = inspections.filter((inspection) => inspection !== undefined);
  const users = inspected.flatMap(({ users = [] }) => users);
  return [
    ...inspected.flatMap(({ diagnostics }) => diagnostics),
    ...found.flatMap((diagnostics) => diagnostics ?? []),
    ...alone ? usersWithout(users, inspected) : [],
    ...namesInOtherOrder(users.map(({ dn }) => dn), inspected.flatMap(({ written = [] }) => written)),
  ];
}

async function inspectExpressions(config: AssignmentsConfig): Promise<readonly Diagnostic[]> {
  return (await import("../../authentication/assignments.ts")).inspectAssignments(config);
}
const certificateFiles = () => import("../../service/assembly/certificate_files.ts");

const MAX_UNMATCHED = 20; // beyond this number, one summary replaces the diagnostics per user

/** Returns warnings of users with a password whom no readable attribute file mentions. */
function usersWithout(users: readonly KnownUser[], inspected: readonly KindInspection[]): Diagnostic[] {
  const matchers = inspected.flatMap(({ matches }) => matches ?? []);
  if (matchers.length === 0) return [];
  const without = users.filter(({ login, dn }) =>
    login !== undefined && !matchers.some((matches) => matches(canonicalDn(dn)))
  );
  const listed = without.slice(0, MAX_UNMATCHED).map(({ login, dn, file }): Diagnostic => ({
    severity: "warning",
    file,
    key: login,
    found: dn,
    expected: "the map file has no entry for this user, who can log in but has no rights",
    fix: `add an entry for ${dn} to the map file`,
  }));
  const [first] = without.slice(MAX_UNMATCHED);
  if (first === undefined) return listed;
  const expected = `the map file has no entry for ${without.length - MAX_UNMATCHED} more users`;
  return [...listed, { severity: "warning", file: first.file, expected }];
}

async function inspectReservations(
  { file, timeZone }: NonNullable<ServiceConfig["servers"][number]["reservations"]>,
): Promise<readonly Diagnostic[]> {
  const { hostZone, MAX_RESERVATIONS } = await import("../../reservations/reservation_registry.ts");
  const { readReservationFile } = await import("../../reservations/reservation_file.ts");
  const context = { file, zone: timeZone ?? hostZone(), now: Date.now() };
  const found = await inspectFile(
    file,
    (text) => readReservationFile(text, context).diagnostics,
    MAX_RESERVATIONS,
  );
  return found.map((diagnostic) => ({ ...diagnostic, severity: "warning" }));
}

async function inspectBy(reading: Promise<unknown>): Promise<readonly Diagnostic[]> {
  return await reading.then(() => [], onError(InvalidFile, ({ diagnostics }) => diagnostics));
}

/**
 * Warns of names without a user that match a user with their parts in reverse: the service compares parts in order, so an
 * entry for such a name does not affect that user.
 * @param known Names of users.
 */
function namesInOtherOrder(known: readonly string[], written: readonly WrittenName[]): Diagnostic[] {
  const users = new Set(known.flatMap(formsOf).map(({ form }) => form));
  const entries = written.flatMap((name) => formsOf(name.key).map((forms) => ({ ...name, ...forms })));
  const earlier = new Map<string, string>();
  return entries.flatMap(({ file, line, key, form, reversed }): Diagnostic[] => {
    earlier.set(form, `${file}:${line}`);
    if (form === reversed || users.has(form)) return [];
    const place = users.has(reversed) ? "the file of users" : earlier.get(reversed);
    if (place === undefined) return [];
    const expected =
      `expected ${reversed} as in ${place}: with its parts in the other order it is another name`;
    return [{ severity: "warning", file, line, key: key.slice(0, 200), expected }];
  });
}

function formsOf(text: string): readonly { readonly form: string; readonly reversed: string }[] {
  return ifValidDn(() => [{ form: canonicalDn(text), reversed: reversedForm(text) }]) ?? [];
}
