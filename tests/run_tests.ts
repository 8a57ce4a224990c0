/**
 * `deno task test [PATH...]`: every test, or those in the paths. Prints how far it is in a few lines, what fails in full, and
 * at the end the runner's own summary. Ends with the runner's status.
 */

/** Test files at a time: most of them wait for sockets, so a few more than there are cores. */
const JOBS = 4;
/** After so many tests a line of progress. */
const STEP = 500;
/** No test lasts so long, in milliseconds: one that hangs is a failure, and not a run without an end. */
const LONGEST_MS = 15 * 60_000;

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
  let failed = 0;
  const hung = () => {
    child.kill("SIGKILL");
    console.log(`No test ended for ${LONGEST_MS / 60_000} minutes: the runner said above which one hangs`);
    console.log(`FAILED | ${done} passed | ${failed + 1} failed`);
  };
  let maxWait = setTimeout(hung, LONGEST_MS);
  let rest = "";
  const began = performance.now();
  for await (const text of child.stdout.pipeThrough(new TextDecoderStream())) {
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) {
      const ended = testEnded(line);
      if (ended === undefined || ended === "FAILED") console.log(line);
      if (ended === undefined) continue;
      clearTimeout(maxWait);
      maxWait = setTimeout(hung, LONGEST_MS);
      if (ended === "FAILED") failed++;
      else if (++done % STEP === 0) console.log(`${done} passed (${seconds(began)} s)`);
    }
  }
  clearTimeout(maxWait);
  if (rest !== "") console.log(rest);
  return (await child.status).code;
}

/** How the test ended that the line is about, `file => name ... ok (3ms)`; `undefined` if it is about something else. */
function testEnded(line: string): string | undefined {
  return / \.\.\. (ok|ignored|FAILED)(?: \([^)]*\))?$/.exec(line)?.[1];
}

function seconds(since: number): number {
  return Math.round((performance.now() - since) / 1000);
}
