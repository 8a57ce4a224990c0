import assert from "node:assert/strict";
import process from "node:process";

/** How much longer twice the text may take. */
const MOST = 2.6;
/** Milliseconds that harm nobody: at four times what may arrive, or at all of it. */
const SLACK_MS = 1;
/** Over two doublings, chance counts for less. A parser that refuses what is too long is seen below its limit. */
const LENGTHS = [1 / 4, 1, 2, 4];
/** Looks at the clock on the wall before what still seems to have grown is measured. */
const MOST_LOOKS = 4;
/** Milliseconds of processor time that a measurement adds up: the system counts them in tens. */
const MEASURED_MS = 60;
const MOST_MEASUREMENTS = 5;

/** Text of about so many characters. */
type Shape = (length: number) => string;

/** With what a parser is timed, to see how its work grows with the text. */
export interface Growth<Input> {
  /** Characters, or bytes, that may arrive; of files, as many as show it. */
  readonly longest: number;
  /** Texts in which each of the pieces, repeated, stands for `…`; and texts that are made. Default: the pieces alone. */
  readonly forms?: readonly (string | Shape)[];
  readonly input: (text: string) => Input;
}

/** What has made careless parsers slow, of all of them. */
const PIECES = [
  ..." \t\n,;:=/\\\"'([{<*a0-+.&#%|~\u00e9\u0301\u{1f511}",
  "\r\n",
  "%41",
  "%2e%2e/",
  "../",
  "//",
  "/*",
  "/**/",
  "a,",
  "a=",
  "a=b,",
  "a:",
  "a ",
  "CN=a,",
  "CN=a+",
  "\\,",
  '\\"',
  "\\u0041",
  '"a",',
  '{"a":',
  '"a":1,',
  "[[",
  "[]",
  "[],",
  "()",
  "<a>",
  "<a b='c'>",
  "<a/>",
  "<!--",
  "<!---->",
  "<![CDATA[",
  "<![CDATA[]]>",
  "<?a",
  "<?a?>",
  "&amp;",
  "*a",
  "?*",
  "a.",
  "e30.",
  "QUJD",
  "text/html;q=0.1,",
  'W/"a",',
  "-----BEGIN CERTIFICATE-----\n",
  "-----BEGIN A-----\n-----END B-----\n",
  "-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----\n",
  "k=v\n",
  "a\\\n",
  "ann:x:",
  "ann:x:y:z\n",
  "Accepted key 0: a\n",
  "0\x80",
  "0\x00",
  "\x80",
] as const;

/**
 * Fails if four times the text takes more than 2.6 times as long for each doubling, or a quarter saves less than that.
 * @param parse Its errors are answers too.
 */
export async function checkGrowth<Input>(
  { longest, forms = ["…"], input }: Growth<Input>,
  parse: (input: Input) => unknown,
): Promise<void> {
  for (const [name, shape] of shapes(forms)) {
    const inputs = LENGTHS.map((times) => input(shape(Math.floor(longest * times))));
    const attempts = inputs.map((input) => async () => {
      try {
        await parse(input);
      } catch {
        // Refused.
      }
    });
    if (!await growsBy(attempts, MOST_LOOKS, onTheWall)) continue;
    const measured = await growsBy(attempts, MOST_MEASUREMENTS, processorTime);
    assert(!measured, `${name}: ${measured && measured.map((ms) => ms.toFixed(2)).join(", ")} ms`);
  }
}

function shapes(forms: readonly (string | Shape)[]): [string, Shape][] {
  return forms.flatMap((form, i): [string, Shape][] => {
    if (typeof form !== "string") return [[`form ${i + 1} of ${forms.length}`, form]];
    return PIECES.map((piece) => [
      `${form} with ${JSON.stringify(piece)}`,
      (length) => form.replace("…", () => piece.repeat(Math.max(0, length - form.length) / piece.length)),
    ]);
  });
}

type Attempt = () => Promise<void>;

/** Times that grow too much, the best of all rounds; `false` as soon as they do not. */
async function growsBy(
  attempts: readonly Attempt[],
  rounds: number,
  time: (attempt: Attempt) => Promise<number>,
): Promise<readonly number[] | false> {
  const best = attempts.map(() => Infinity);
  for (let round = 0; round < rounds; round++) {
    for (const [i, attempt] of attempts.entries()) {
      best[i] = Math.min(best[i] ?? Infinity, await time(attempt));
    }
    if (!grows(best)) return false;
  }
  return best;
}

async function onTheWall(attempt: Attempt): Promise<number> {
  const began = performance.now();
  await attempt();
  return performance.now() - began;
}

/** Milliseconds that this thread computes for it, whatever else the machine does. */
async function processorTime(attempt: Attempt): Promise<number> {
  const began = process.threadCpuUsage();
  for (let times = 1;; times++) {
    await attempt();
    const { user, system } = process.threadCpuUsage(began);
    const ms = (user + system) / 1000;
    if (ms >= MEASURED_MS) return ms / times;
  }
}

function grows([quarter = 0, once = 0, , fourTimes = 0]: readonly number[]): boolean {
  return fourTimes > MOST * MOST * once + SLACK_MS || once > MOST * MOST * quarter + SLACK_MS;
}
