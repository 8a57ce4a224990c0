import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { systemFiles } from "../../src/command/files/installation/sample_file.ts";
import { ROOT } from "./project.ts";

/** A file of the package. */
export interface PackageFile {
  /** Absolute, on the system that it is installed on. */
  readonly path: string;
  readonly mode: number;
  readonly content: Uint8Array | string;
}

/**
 * Everything of a package.
 * @param program Path of the executable; its list of components is beside it.
 */
export async function programFiles(program: string): Promise<PackageFile[]> {
  return [
    { path: "/usr/bin/authserver", mode: 0o755, content: await Deno.readFile(program) },
    {
      path: "/usr/share/doc/authserver/authserver.cdx.json",
      mode: 0o644,
      content: await Deno.readTextFile(`${program}.cdx.json`),
    },
    ...await packageFiles(),
  ];
}

/** Everything that goes onto a system beside the program itself. */
export async function packageFiles(): Promise<PackageFile[]> {
  const license = await Deno.readTextFile(`${ROOT}/LICENSE`);
  return [
    ...systemFiles("package").map(({ path, mode, text }) => ({ path: `/${path}`, mode, content: text })),
    ...await manual(),
    ...await manualPages(),
    ...await completions(),
    ...await scripts(),
    { path: "/usr/share/doc/authserver/copyright", mode: 0o644, content: `${COPYRIGHT}\n${license}` },
  ];
}

/** Paths of the files below a folder of the project that match. */
export async function filesBelow(folder: string, pattern = /./): Promise<string[]> {
  const found = await Promise.all((await Array.fromAsync(Deno.readDir(join(ROOT, folder)))).map(
    ({ name, isDirectory }) => {
      const path = `${folder}/${name}`;
      return isDirectory ? filesBelow(path, pattern) : pattern.test(path) ? [path] : [];
    },
  ));
  return found.flat().sort();
}

/** Paths outside of `docs/` to which the manual links. */
export async function linkedFromManual(): Promise<string[]> {
  const reports = await filesBelow("tests/reports", /\.md$/);
  return ["README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", ...reports];
}

/** The manual, and the files to which it links. */
async function manual(): Promise<PackageFile[]> {
  const elsewhere = /^docs\/(?:man|completions)\/|^docs\/[^/]+\.json$/;
  const paths = (await filesBelow("docs")).filter((path) => !elsewhere.test(path));
  return await Promise.all([...await linkedFromManual(), ...paths].map(async (path) => ({
    path: `/usr/share/doc/authserver/${path}`,
    mode: 0o644,
    content: await Deno.readFile(join(ROOT, path)),
  })));
}

async function manualPages(): Promise<PackageFile[]> {
  const folder = `${ROOT}/docs/man`;
  const names = (await Array.fromAsync(Deno.readDir(folder))).map(({ name }) => name).sort();
  return await Promise.all(names.map(async (name) => ({
    path: `/usr/share/man/man1/${name}.gz`,
    mode: 0o644,
    content: gzipped(await Deno.readFile(`${folder}/${name}`)),
  })));
}

/** Without name and time, as packages have it. */
export function gzipped(content: Uint8Array | string): Uint8Array {
  return gzipSync(content, { level: 9 });
}

const SCRIPTS = ["start", "stop", "status"].map((what) => `bin/authserver-${what}.sh`);

/** For installations in a folder of their own; the system's is started by systemd. */
async function scripts(): Promise<PackageFile[]> {
  const paths = [...SCRIPTS, "bin/launch-settings.sh", "conf/startup.properties"];
  return await Promise.all(paths.map(async (path) => ({
    path: `/usr/share/doc/authserver/examples/${path}`,
    mode: SCRIPTS.includes(path) ? 0o755 : 0o644,
    content: await Deno.readTextFile(`${ROOT}/${path}`),
  })));
}

/** Where each shell looks for completions of packages. */
const COMPLETIONS: readonly (readonly [source: string, path: string])[] = [
  ["bash/authserver", "/usr/share/bash-completion/completions/authserver"],
  ["zsh/_authserver", "/usr/share/zsh/vendor-completions/_authserver"],
  ["fish/authserver.fish", "/usr/share/fish/vendor_completions.d/authserver.fish"],
];

async function completions(): Promise<PackageFile[]> {
  return await Promise.all(COMPLETIONS.map(async ([source, path]) => ({
    path,
    mode: 0o644,
    content: await Deno.readTextFile(`${ROOT}/docs/completions/${source}`),
  })));
}

const COPYRIGHT =
  `The program holds the Deno runtime (MIT, https://github.com/denoland/deno) with the V8 engine
(BSD-3-Clause), and the npm packages jose, xml-crypto, @xmldom/xmldom, @xmldom/is-dom-node and xpath (MIT)
and postgres (Unlicense).
The license of the service itself:
`;
