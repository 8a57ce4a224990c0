import { basename, dirname } from "node:path";
import { writePackageFile } from "./archive.ts";
import { CONFLICTS, DESCRIPTION, maintainer, SUMMARY } from "./description.ts";
import type { PackageFile } from "./package_files.ts";
import { ROOT } from "./project.ts";
import { releaseDate } from "./release_date.ts";
import { runTool } from "./run_tool.ts";

const SCRIPTS = ["post", "preun", "postun"];

/** What the package says of itself. */
export interface RpmOptions {
  readonly output: string;
  readonly version: string;
  readonly license: string;
  /** As RPM names it, such as `x86_64`. */
  readonly architecture: string;
  readonly files: readonly PackageFile[];
}

/**
 * Writes an RPM package. Files below `/etc` are `%config(noreplace)`: an update keeps what the administrator changed.
 * Nothing is done to the files: `rpmbuild` would strip the program.
 * @throws {ToolFailed} If `rpmbuild` refuses.
 */
export async function writeRpm(options: RpmOptions): Promise<void> {
  const top = await Deno.makeTempDir({ prefix: "authserver-rpm-" });
  try {
    const files = options.files.map((file) => ({ ...file, path: placeOf(file.path) }));
    for (const file of files) await writePackageFile(`${top}/files`, file);
    await Deno.writeTextFile(`${top}/authserver.spec`, await spec({ ...options, files }, `${top}/files`));
    const defines = { _topdir: top, _rpmdir: `${top}/made`, _build_name_fmt: basename(options.output) };
    await runTool("rpmbuild", [
      "-bb",
      "--quiet",
      `--target=${options.architecture}-linux`,
      ...Object.entries(defines).flatMap(([name, value]) => ["--define", `${name} ${value}`]),
      `${top}/authserver.spec`,
    ], { env: { SOURCE_DATE_EPOCH: String(Math.floor(releaseDate().getTime() / 1000)) } });
    await Deno.mkdir(dirname(options.output), { recursive: true });
    await Deno.copyFile(`${top}/made/${basename(options.output)}`, options.output);
  } finally {
    await Deno.remove(top, { recursive: true });
  }
}

/** Where systems with RPM look for what Debian has elsewhere. */
function placeOf(path: string): string {
  return path.replace("/zsh/vendor-completions/", "/zsh/site-functions/");
}

async function spec({ version, license, files }: RpmOptions, folder: string): Promise<string> {
  const scripts = await Promise.all(
    SCRIPTS.map(async (name) => `%${name}\n${await Deno.readTextFile(`${ROOT}/bin/build/rpm/${name}`)}`),
  );
  return `%global debug_package %{nil}
%global __os_install_post %{nil}
%global _build_id_links none
%global _binary_payload w1.gzdio
%global use_source_date_epoch_as_buildtime 1
%global clamp_mtime_to_source_date_epoch 1
%global _buildhost localhost

Name: authserver
Version: ${version}
Release: 1
Summary: ${SUMMARY}
License: ${license}
Packager: ${maintainer()}
AutoReqProv: no
Requires: systemd >= 239, coreutils, gzip, tar
Conflicts: ${CONFLICTS}

%description
${DESCRIPTION.join("\n")}

%install
cp -a ${folder}/. %{buildroot}

${scripts.join("\n")}
%files
${files.map(fileLine).join("\n")}
`;
}

function fileLine({ path, mode }: PackageFile): string {
  const kind = path.startsWith("/etc/") ? "%config(noreplace) " : "";
  return `${kind}%attr(${mode.toString(8).padStart(4, "0")}, root, root) "${path}"`;
}
