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

/** Everything that goes onto a system beside the program itself. */
export async function packageFiles(): Promise<PackageFile[]> {
  const license = await Deno.readTextFile(`${ROOT}/LICENSE`);
  return [
    ...systemFiles("package").map(({ path, mode, text }) => ({ path: `/${path}`, mode, content: text })),
    ...await manualPages(),
    ...await completions(),
    { path: "/usr/share/doc/authserver/copyright", mode: 0o644, content: `${COPYRIGHT}\n${license}` },
  ];
}

async function manualPages(): Promise<PackageFile[]> {
  const folder = `${ROOT}/docs/man`;
  const names = (await Array.fromAsync(Deno.readDir(folder))).map(({ name }) => name).sort();
  return await Promise.all(names.map(async (name) => ({
    path: `/usr/share/man/man1/${name}.gz`,
    mode: 0o644,
    content: gzipSync(await Deno.readFile(`${folder}/${name}`), { level: 9 }),
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
(BSD-3-Clause), and the npm packages jose, xml-crypto, @xmldom/xmldom, @xmldom/is-dom-node and xpath (MIT).
The license of the service itself:
`;
