/**
 * `deno task test [PATH...]`: every test, or those in the paths. Prints how far it is in a few lines, what fails in full, and
 * at the end the runner's own summary. Ends with the runner's status.
 */

/** Test files at a time: most of them wait for sockets, so a few more than there are cores. */
const JOBS = 4;
/** After so many tests a line of progress. */
const STEP = 500;

const RUNNER = ["test", "--no-check", "--allow-all", "--parallel", "--quiet"];

Deno.exit(await main(Deno.args.length > 0 ? Deno.args : ["tests/"]));

async function main(paths: readonly string[]): Promise<number> {
  const child = new Deno.Command(Deno.execPath(), {
    args: [...RUNNER, ...paths],
    env: { DENO_JOBS: String(JOBS), NO_COLOR: "1" },
    stdout: "piped",
    stderr: "inherit",
  }).spawn();
  let done = 0;
  let rest = "";
  const began = performance.now();
  for await (const text of child.stdout.pipeThrough(new TextDecoderStream())) {
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) {
      if (!isPassed(line)) console.log(line);
      else if (++done % STEP === 0) console.log(`${done} passed (${seconds(began)} s)`);
    }
  }
  if (rest !== "") console.log(rest);
  return (await child.status).code;
}

/** `file => name ... ok (3ms)`, or `ignored`. */
function isPassed(line: string): boolean {
  return / \.\.\. (?:ok|ignored)(?: \([^)]*\))?$/.test(line);
}

function seconds(since: number): number {
  return Math.round((performance.now() - since) / 1000);
}
