import { gzipSync } from "node:zlib";
import { ROOT } from "./project.ts";

/** A file of the package. */
export interface PackageFile {
  /** Absolute, on the system that it is installed on. */
  readonly path: string;
  readonly mode: number;
  readonly content: Uint8Array | string;
}

/** Files of `conf/` and their places on a system. What is below `/etc` is for the administrator to change. */
const PLACES: readonly (readonly [source: string, path: string, mode?: number])[] = [
  ["container.properties", "/etc/authserver/container.properties", 0o640],
  ["mapfile.json", "/etc/authserver/mapfile.json"],
  ["ssh-keys.txt", "/etc/authserver/ssh-keys.txt"],
  ["users.txt", "/etc/authserver/users.txt", 0o600],
  ["authserver.logrotate", "/etc/logrotate.d/authserver"],
  ["authserver.fail2ban-filter.conf", "/etc/fail2ban/filter.d/authserver.conf"],
  ["authserver.fail2ban-jail.conf", "/etc/fail2ban/jail.d/authserver.conf"],
  ["authserver.service", "/usr/lib/systemd/system/authserver.service"],
  ["authserver.sysusers.conf", "/usr/lib/sysusers.d/authserver.conf"],
  ["authserver.tmpfiles.conf", "/usr/lib/tmpfiles.d/authserver.conf"],
];

/** Everything that goes onto a system beside the program itself. */
export async function packageFiles(): Promise<PackageFile[]> {
  const license = await Deno.readTextFile(`${ROOT}/LICENSE`);
  const files = PLACES.map(async ([source, path, mode = 0o644]) => {
    const text = await Deno.readTextFile(`${ROOT}/conf/${source}`);
    return { path, mode, content: source === "container.properties" ? atSystemPlaces(text) : text };
  });
  return [
    ...await Promise.all(files),
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

/** The sample names files relative to the installation folder; a package has a place for each kind. */
function atSystemPlaces(properties: string): string {
  return properties
    .replaceAll("=conf/", "=/etc/authserver/")
    .replaceAll(/^#?persistence\.directory=.*$/gm, "persistence.directory=/var/lib/authserver/data")
    .replaceAll(
      /^#?container\.logging\.file=.*$/gm,
      "container.logging.file=/var/log/authserver/authserver.log",
    );
}

const COPYRIGHT =
  `The program holds the Deno runtime (MIT, https://github.com/denoland/deno) with the V8 engine
(BSD-3-Clause), and the npm packages jose, xml-crypto, @xmldom/xmldom, @xmldom/is-dom-node and xpath (MIT).
The license of the service itself:
`;
