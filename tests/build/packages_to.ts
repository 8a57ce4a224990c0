/** Writes archive and packages of a small program into a given folder, in a process with its own umask. */
import { archiveFiles, writeArchive } from "../../bin/build/archive.ts";
import { writeDeb } from "../../bin/build/deb.ts";
import { packageFiles } from "../../bin/build/package_files.ts";
import { writeRpm } from "../../bin/build/rpm.ts";

const [folder = "."] = Deno.args;
const content = "#!/bin/sh\n";
const files = [{ path: "/usr/bin/authserver", mode: 0o755, content }, ...await packageFiles()];
const facts = { version: "1.0", files };
await writeArchive(
  `${folder}/all.tar.gz`,
  "authserver-1.0",
  await archiveFiles(new TextEncoder().encode(content)),
);
await writeDeb({ ...facts, output: `${folder}/all.deb`, architecture: "amd64" });
await writeRpm({ ...facts, output: `${folder}/all.rpm`, architecture: "x86_64", license: "MIT" });
