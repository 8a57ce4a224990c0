import { createHash } from "node:crypto";
import { MODULES } from "./program.ts";
import { type Project, ROOT } from "./project.ts";
import { runDeno } from "./run_tool.ts";
import { readRuntime } from "./runtime.ts";
import type { Target } from "./target.ts";

/** A component as CycloneDX 1.6 describes it. */
interface Component {
  readonly type: "application" | "platform" | "library";
  readonly "bom-ref": string;
  readonly name: string;
  readonly version: string;
  readonly purl: string;
  readonly licenses?: readonly { readonly license: { readonly id: string } }[];
  readonly hashes?: readonly { readonly alg: "SHA-256" | "SHA-512"; readonly content: string }[];
}

/**
 * The list of what is in the executable, as CycloneDX 1.6 JSON: the service, the runtime, and the packages of which the
 * program has modules: some need others by their own word that nothing of them is taken from. Without time and serial number, so that one
 * commit gives one text.
 * @param program Bundled modules by name.
 */
export async function createSbom(
  project: Project,
  target: Target,
  program: ReadonlyMap<string, string>,
): Promise<string> {
  const { name, version, license } = project;
  const own: Component = {
    type: "application",
    "bom-ref": `pkg:generic/${name}@${version}`,
    name,
    version,
    purl: `pkg:generic/${name}@${version}`,
    licenses: [{ license: { id: license } }],
  };
  const packages = await reachedPackages(program);
  const runtime = await runtimeComponent(target);
  const document = {
    $schema: "http://cyclonedx.org/schema/bom-1.6.schema.json",
    bomFormat: "CycloneDX",
    specVersion: "1.6",
    version: 1,
    metadata: { component: own },
    components: [runtime, ...packages.map(({ component }) => component)],
    dependencies: [
      { ref: own["bom-ref"], dependsOn: [runtime["bom-ref"], ...directPackages(packages)] },
      { ref: runtime["bom-ref"], dependsOn: [] },
      ...packages.map(({ component, dependencies }) => ({
        ref: component["bom-ref"],
        dependsOn: dependencies,
      })),
    ],
  };
  return `${JSON.stringify(document, undefined, 2)}\n`;
}

async function runtimeComponent(target: Target): Promise<Component> {
  const purl = `pkg:github/denoland/deno@v${Deno.version.deno}`;
  return {
    type: "platform",
    "bom-ref": purl,
    name: "deno",
    version: Deno.version.deno,
    purl: `${purl}?arch=${target.split("-")[0]}`,
    licenses: [{ license: { id: "MIT" } }],
    hashes: [{
      alg: "SHA-256",
      content: createHash("sha256").update(await readRuntime(target)).digest("hex"),
    }],
  };
}

interface ReachedPackage {
  readonly component: Component;
  /** References of the packages that it needs. */
  readonly dependencies: readonly string[];
  /** Imported by the service itself. */
  readonly direct: boolean;
}

function directPackages(packages: readonly ReachedPackage[]): string[] {
  return packages.filter(({ direct }) => direct).map(({ component }) => component["bom-ref"]);
}

/** Parts of what `deno info --json` says that are of interest here. */
interface ModuleGraph {
  readonly modules: readonly { readonly specifier: string }[];
  readonly npmPackages: Readonly<
    Record<
      string,
      { readonly name: string; readonly version: string; readonly dependencies: readonly string[] }
    >
  >;
}

async function reachedPackages(program: ReadonlyMap<string, string>): Promise<ReachedPackage[]> {
  const lock: { readonly npm: Readonly<Record<string, { readonly integrity: string }>> } = JSON.parse(
    await Deno.readTextFile(`${ROOT}/deno.lock`),
  );
  const has = (name: string, version: string) =>
    [...program.values()].some((text) => text.includes(`npm:${name}/${version}/`));
  const reached = new Map<string, ReachedPackage>();
  for (const source of Object.values(MODULES)) {
    const graph: ModuleGraph = JSON.parse(await runDeno(["info", "--json", source], { cwd: ROOT }));
    const visit = (id: string, direct: boolean) => {
      const entry = graph.npmPackages[id];
      if (entry === undefined) throw new TypeError(`The module graph does not know the package ${id}`);
      const { name, version, dependencies } = entry;
      const purl = packageUrl(name, version);
      if (!has(name, version) || (reached.has(id) && !direct)) return;
      const component: Component = {
        type: "library",
        "bom-ref": purl,
        name,
        version,
        purl,
        hashes: sha512(lock.npm[id]?.integrity),
      };
      const needs = dependencies.flatMap((needed) => {
        const found = graph.npmPackages[needed];
        return found !== undefined && has(found.name, found.version)
          ? packageUrl(found.name, found.version)
          : [];
      });
      reached.set(id, { component, dependencies: needs, direct });
      dependencies.forEach((needed) => visit(needed, reached.get(needed)?.direct ?? false));
    };
    for (const { specifier } of graph.modules) {
      const [, id] = /^npm:\/((?:@[^/]+\/)?[^/@]+@[^/]+)/.exec(specifier) ?? [];
      if (id !== undefined) visit(id, true);
    }
  }
  return [...reached].sort(([a], [b]) => a < b ? -1 : 1).map(([, found]) => found);
}

/** https://github.com/package-url/purl-spec: the at sign of a scope is encoded. */
function packageUrl(name: string, version: string): string {
  return `pkg:npm/${name.replace(/^@/, "%40")}@${version}`;
}

/** @param integrity Subresource integrity of the lock file, `sha512-<base64>`. */
function sha512(integrity = ""): Component["hashes"] {
  const [, base64] = /^sha512-(.+)$/.exec(integrity) ?? [];
  if (base64 === undefined) return [];
  return [{ alg: "SHA-512", content: Uint8Array.fromBase64(base64).toHex() }];
}
