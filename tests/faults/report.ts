/**
 * `deno task faults`: tries every fault, also those that last long, and writes what happened to `docs/reliability.md`.
 * Ends with the status of the tests.
 */
import type { Row } from "./fault_table.ts";

const PAGE = new URL("../../docs/reliability.md", import.meta.url);

const folder = await Deno.makeTempDir({ prefix: "authserver-faults-" });
try {
  const { code } = await new Deno.Command(Deno.execPath(), {
    args: ["test", "--allow-all", "--quiet", new URL(".", import.meta.url).pathname],
    env: { AUTHSERVER_FAULT_TABLE: folder, AUTHSERVER_LONG_TESTS: "1" },
  }).output().then(async (output) => {
    if (!output.success) await Deno.stdout.write(output.stdout);
    return output;
  });
  const rows: Row[] = [];
  for await (const { name } of Deno.readDir(folder)) {
    rows.push(JSON.parse(await Deno.readTextFile(`${folder}/${name}`)));
  }
  if (code === 0) await Deno.writeTextFile(PAGE, page(rows));
  for (const { section, fault, caller } of rows.toSorted(bySection)) {
    console.log(`${section}: ${fault}: ${caller}`);
  }
  console.log(`${rows.length} faults tried${code === 0 ? `, written to ${PAGE.pathname}` : ""}`);
  Deno.exitCode = code;
} finally {
  await Deno.remove(folder, { recursive: true });
}

function bySection(a: Row, b: Row): number {
  return a.section.localeCompare(b.section) || a.fault.localeCompare(b.fault);
}

function page(rows: readonly Row[]): string {
  const sections = [...new Set(rows.map(({ section }) => section))].sort();
  return `# Reliability

What happens when something around the service fails, as it was tried. This page is written by \`deno task faults\` (six
minutes; as root, or the disks are left out), which runs the tests in \`tests/faults\`: each fault is caused on purpose in a
real service with simulated neighbours, and the tests hold what the table says. Times depend on the machine; limits do not.

Two promises hold in every row. Whoever does not need the thing that failed notices nothing. Once it works again, so does the
service, without a restart.
${
    sections.map((section) => `
## ${section}

| What fails | What callers see | What the log says | Afterwards |
|---|---|---|---|
${
      rows.filter((row) => row.section === section)
        .map(({ fault, caller, log, after }) => `| ${[fault, caller, log, after].map(cell).join(" | ")} |`)
        .sort().join("\n")
    }
`).join("")
  }
## What remains

- A process killed (\`kill -9\`, a power cut) in the milliseconds between the TLS handshake with a transfer daemon and the end of
  the request can leave that daemon waiting for ever: its command socket then has to be restarted. The service itself never
  ends a connection there.
- A session that was announced to a daemon whose answer was lost stays registered there until it expires.
- A password file that is damaged and stays so locks out those whose lines are damaged; nobody gets in by it. A service that
  is started or reloaded while the file is cut off in the middle of a name knows nothing better, and takes the shorter name.
`;
}

function cell(text: string): string {
  return text.replace(/[|<]/g, "\\$&").replace(/\s+/g, " ");
}
