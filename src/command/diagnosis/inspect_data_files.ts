import { inspectMapFile, type MapInspection } from "../../attributes/file/map_inspection.ts";
import { compileExpression } from "../../authentication/expression/expression.ts";
import { ExpressionError } from "../../authentication/expression/expression_error.ts";
import { parsePasswordFile } from "../../authentication/password/password_table.ts";
import { checkTemplate } from "../../authentication/ssh_key/dn_template.ts";
import { parseKeysFile } from "../../authentication/ssh_key/keys_file.ts";
import type {
  AssignmentsConfig,
  AttributeSourceConfig,
  MethodConfig,
  ServiceConfig,
} from "../../config/service_config.ts";
import { comparableForm, InvalidName } from "../../model/distinguished_name.ts";
import { namesInOtherOrder, type WrittenName } from "../names_in_other_order.ts";
import { InvalidFile, type Problem } from "../../model/problem.ts";
import { readGatewayCertificate, readTrustedIssuer } from "../../service/assembly/certificate_files.ts";
import { hostZone } from "../../reservations/reservation_book.ts";
import { readReservationFile } from "../../reservations/reservation_file.ts";
import { readRegularFile } from "../../model/regular_file.ts";

/** What of a configuration names files of users, keys, attributes and reservations. */
export interface DataFiles {
  readonly authentication: Pick<ServiceConfig["authentication"], "methods">;
  readonly attributes: Pick<ServiceConfig["attributes"], "sources">;
  readonly dynamicAttributes: Pick<ServiceConfig["dynamicAttributes"], "sources">;
  readonly servers: ServiceConfig["servers"];
  /** All that are named, also those that cannot be used; absent if that is not known. */
  readonly serverNames?: readonly string[];
  readonly issuedTokens?: Pick<ServiceConfig["issuedTokens"], "trustedIssuerFiles">;
  readonly gateway?: ServiceConfig["gateway"];
}

/**
 * Reads the files of users, keys, attributes and reservations as the service will. An error is what the service cannot
 * start with; a line or entry that it does without is a warning.
 */
export async function inspectDataFiles(config: DataFiles): Promise<readonly Problem[]> {
  const { authentication, attributes, dynamicAttributes, servers, issuedTokens, gateway } = config;
  const maps: MapFiles = {
    servers: config.serverNames,
    alone: attributes.sources.length === 1 && dynamicAttributes.sources.length === 0,
    matchers: [],
  };
  const [users, written]: [KnownUser[], WrittenName[]] = [[], []];
  const found = await Promise.all([
    ...authentication.methods.map((method) => inspectMethod(method, users)),
    ...[...attributes.sources, ...dynamicAttributes.sources].map((source) =>
      inspectSource(source, maps, written)
    ),
    ...servers.map(({ reservations }) => reservations && inspectReservations(reservations)),
    ...(issuedTokens?.trustedIssuerFiles ?? []).map((file) => inspectBy(readTrustedIssuer(file))),
    gateway?.enabled && gateway.certificate !== undefined
      ? inspectBy(readGatewayCertificate(gateway.certificate))
      : undefined,
  ]);
  const unmatched = maps.alone && maps.matchers.length > 0 ? usersWithout(users, maps.matchers) : [];
  const reordered = namesInOtherOrder(users.map(({ dn }) => dn), written);
  return [...found.flatMap((problems) => problems ?? []), ...unmatched, ...reordered];
}

/** Whom a file names; `login` if they log in by a password. */
interface KnownUser {
  readonly dn: string;
  readonly login?: string;
  readonly file: string;
}

/** What map files are looked at with, and what is found in them. */
interface MapFiles {
  /** Names of the logical servers, if known. */
  readonly servers: readonly string[] | undefined;
  /** Whether a map file would be all that says what users are. */
  readonly alone: boolean;
  /** One for each file that could be read. */
  readonly matchers: MapInspection["matches"][];
}

/** Users in this number are told of one by one. */
const MOST_UNMATCHED = 20;

function usersWithout(users: readonly KnownUser[], matchers: readonly MapInspection["matches"][]): Problem[] {
  const without = users.filter(({ login, dn }) =>
    login !== undefined && !matchers.some((matches) => matches(comparableForm(dn)))
  );
  const told = without.slice(0, MOST_UNMATCHED).map(({ login, dn, file }): Problem => ({
    severity: "warning",
    file,
    key: login,
    found: dn,
    expected: "no entry of the map file is about this user, so they log in and may do nothing",
    fix: `add an entry for ${dn} to the map file`,
  }));
  const [first] = without.slice(MOST_UNMATCHED);
  if (first === undefined) return told;
  const expected = `no entry of the map file is about ${without.length - MOST_UNMATCHED} more users`;
  return [...told, { severity: "warning", file: first.file, expected }];
}

/** @param users Gets the names of users. */
async function inspectMethod(method: MethodConfig, users: KnownUser[]): Promise<readonly Problem[]> {
  switch (method.kind) {
    case "FilebasedAuthenticator":
      return [
        ...await inspectFile(
          method.file,
          async (text, file) => {
            const { entries, problems } = await parsePasswordFile(text, file);
            for (const [login, { dn }] of entries) users.push({ login, dn, file });
            return problems;
          },
        ),
        ...await inspectMode(method.file),
      ];
    case "SSHKeyAuthenticator": {
      const template = inspectTemplate(method.name, method.dnTemplate);
      if (method.file === undefined) return template;
      return [
        ...template,
        ...await inspectFile(method.file, async (text, file) => {
          const { keys, problems } = await parseKeysFile(text, file);
          for (const named of keys.values()) users.push(...named.map(({ dn }) => ({ dn, file })));
          return problems;
        }),
      ];
    }
    case "OAuthAuthenticator":
    case "UnitySAMLAuthenticator":
    case "UnityOAuthAuthenticator":
      return inspectAssignments(method.assignments);
    case "X509Authenticator":
      return [];
  }
}

function inspectTemplate(method: string, template: string): readonly Problem[] {
  try {
    checkTemplate(template);
    return [];
  } catch (error) {
    if (!(error instanceof InvalidName)) throw error;
    const key = `container.security.rest.authentication.${method}.dnTemplate`;
    return [{ severity: "error", file: "configuration", key, found: template, expected: error.message }];
  }
}

function inspectAssignments(assignments: AssignmentsConfig): readonly Problem[] {
  return Object.values(assignments).flatMap((expression) => {
    if (expression === undefined) return [];
    try {
      compileExpression(expression.text);
      return [];
    } catch (error) {
      if (!(error instanceof ExpressionError)) throw error;
      return [{ severity: "error", ...expression.origin, expected: error.message }];
    }
  });
}

async function inspectSource(
  source: AttributeSourceConfig,
  maps: MapFiles,
  written: WrittenName[],
): Promise<readonly Problem[]> {
  if (source.kind === "AttributeSourcesChain") {
    return (await Promise.all(source.sources.map((inner) => inspectSource(inner, maps, written)))).flat();
  }
  if (source.kind !== "FileAttributeSource") return [];
  const { matching, format } = source;
  return await inspectFile(source.file, async (text, file) => {
    const { servers, alone } = maps;
    const { problems, servers: mentioned, names, matches } = await inspectMapFile(text, {
      file,
      matching,
      alone,
      ...(format !== "auto" && { format }),
    });
    maps.matchers.push(matches);
    for (const name of names) written.push({ ...name, file });
    const unknown = mentioned.filter(({ server }) => servers?.includes(server) === false).map((
      { server, line },
    ): Problem => ({
      severity: "warning",
      file,
      line,
      found: server,
      expected: `no such server, expected one of authservice.servers: ${servers?.join(" ") ?? ""}`,
    }));
    return [...problems, ...unknown];
  });
}

async function inspectReservations(
  { file, timeZone }: NonNullable<ServiceConfig["servers"][number]["reservations"]>,
): Promise<readonly Problem[]> {
  const there = await Deno.stat(file).then(() => true, () => false); // it may come later
  if (!there) return [];
  return await inspectFile(file, (text) => {
    const { problems } = readReservationFile(text, { file, zone: timeZone ?? hostZone(), now: Date.now() });
    return problems.map((problem) => ({ ...problem, severity: "warning" }));
  });
}

async function inspectFile(
  file: string,
  problemsOf: (text: string, file: string) => readonly Problem[] | Promise<readonly Problem[]>,
): Promise<readonly Problem[]> {
  try {
    return await problemsOf(new TextDecoder().decode(await readRegularFile(file)), file);
  } catch (error) {
    if (error instanceof InvalidFile) return error.problems;
    const reason = error instanceof Error ? error.message : String(error);
    return [{ severity: "error", file, expected: `cannot be read: ${reason}` }];
  }
}

/** What a reader finds wrong. */
async function inspectBy(reading: Promise<unknown>): Promise<readonly Problem[]> {
  try {
    await reading;
    return [];
  } catch (error) {
    if (error instanceof InvalidFile) return error.problems;
    throw error;
  }
}

/** Files with password hashes are nobody else's business. */
async function inspectMode(file: string): Promise<readonly Problem[]> {
  const { mode } = await Deno.stat(file).catch(() => ({ mode: null }));
  if (mode === null || (mode & 0o007) === 0) return [];
  const found = `mode ${(mode & 0o777).toString(8).padStart(4, "0")}`;
  return [{
    severity: "warning",
    file,
    found,
    expected: "holds secrets, expected no access for others (chmod o-rwx)",
  }];
}
