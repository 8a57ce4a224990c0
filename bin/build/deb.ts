import { createHash } from "node:crypto";
import { dirname } from "node:path";
import { writePackageFile } from "./archive.ts";
import { CONFLICTS, DESCRIPTION, maintainer, SUMMARY } from "./description.ts";
import { gzipped, type PackageFile } from "./package_files.ts";
import { ROOT } from "./project.ts";
import { releaseDate } from "./release_date.ts";
import { runTool } from "./run_tool.ts";

const SCRIPTS = ["postinst", "prerm", "postrm"];

/** What the package says of itself. */
export interface DebOptions {
  readonly output: string;
  readonly version: string;
  /** As Debian names it, such as `amd64`. */
  readonly architecture: string;
  readonly files: readonly PackageFile[];
}

/**
 * Writes a Debian package with the tools of every Debian system. Files below `/etc` are conffiles: an update keeps what
 * the administrator changed (deb-conffiles(5)).
 * @throws {ToolFailed} If `dpkg-deb` refuses.
 */
export async function writeDeb({ output, version, architecture, files: given }: DebOptions): Promise<void> {
  const root = await Deno.makeTempDir({ prefix: "authserver-deb-" });
  try {
    await Deno.chmod(root, 0o755);
    const files = [...given, debianChangelog(version)];
    for (const file of files) await writePackageFile(root, file);
    const bytes = files.reduce((sum, { content }) => sum + content.length, 0);
    const control = {
      control: controlFile(version, architecture, Math.ceil(bytes / 1024)),
      conffiles: lines(files.filter(({ path }) => path.startsWith("/etc/")).map(({ path }) => path)),
      md5sums: lines(
        files.filter(({ path }) => !path.startsWith("/etc/")).map(({ path, content }) =>
          `${createHash("md5").update(content).digest("hex")}  ${path.slice(1)}`
        ),
      ),
    };
    for (const [name, content] of Object.entries(control)) {
      await writePackageFile(root, { path: `/DEBIAN/${name}`, mode: 0o644, content });
    }
    for (const name of SCRIPTS) {
      const content = await Deno.readTextFile(`${ROOT}/bin/build/debian/${name}`);
      await writePackageFile(root, { path: `/DEBIAN/${name}`, mode: 0o755, content });
    }
    await Deno.mkdir(dirname(output), { recursive: true });
    // Most of it is compressed already.
    await runTool("dpkg-deb", ["--root-owner-group", "-Zgzip", "-z1", "--build", root, output]);
  } finally {
    await Deno.remove(root, { recursive: true });
  }
}

/** The form that Debian's tools read; what changed is in the file that it names. */
function debianChangelog(version: string): PackageFile {
  const date = releaseDate().toUTCString().replace("GMT", "+0000");
  return {
    path: "/usr/share/doc/authserver/changelog.gz",
    mode: 0o644,
    content: gzipped(`authserver (${version}) stable; urgency=medium

  * See /usr/share/doc/authserver/CHANGELOG.md.

 -- ${maintainer()}  ${date}
`),
  };
}

function lines(list: readonly string[]): string {
  return list.map((line) => `${line}\n`).join("");
}

function controlFile(version: string, architecture: string, kilobytes: number): string {
  return `Package: authserver
Version: ${version}
Architecture: ${architecture}
Maintainer: ${maintainer()}
Installed-Size: ${kilobytes}
Section: net
Priority: optional
Depends: libc6 (>= 2.27), libgcc-s1, systemd (>= 247)
Suggests: fail2ban, logrotate
Conflicts: ${CONFLICTS}
Description: ${SUMMARY}
${lines(DESCRIPTION.map((line) => ` ${line}`))}`;
}
