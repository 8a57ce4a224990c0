import assert from "node:assert/strict";
import process from "node:process";

/** Factor by which the time may grow when the text doubles. */
const MOST = 2.6;
/** Additional milliseconds that are harmless, for the longest text or for four times its length. */
const SLACK_MS = 1;
/** Multiples of the longest text. Two doublings reduce the effect of chance; a quarter is below any limit. */
const LENGTHS = [1 / 4, 1, 2, 4];
/** Rounds by wall-clock time; a text that still seems slow is then measured by processor time. */
const MOST_LOOKS = 4;
/** Processor time of one measurement, in milliseconds: the system counts in steps of 10 ms. */
const MEASURED_MS = 60;
const MOST_MEASUREMENTS = 5;

/** Function that makes a text of about `length` characters. */
type Shape = (length: number) => string;

/** Inputs that show how the time of a parser grows with the length of the text. */
export interface Growth<Input> {
  /** Maximum number of characters, or bytes, that may arrive; for files, enough to show the growth. */
  readonly longest: number;
  /** Texts in which each piece, repeated, replaces `…`; or functions that make texts. Default: the pieces. */
  readonly forms?: readonly (string | Shape)[];
  readonly input: (text: string) => Input;
}

/** Pieces of text that have made careless parsers slow. */
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
 * Fails if the time grows by more than a factor of 2.6 for each doubling, from a quarter of the longest text
 * to all of it or from there to four times as much.
 * @param parse May throw; that ends an attempt like a result.
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

/** Returns the best times of all rounds if they grow too much; `false` as soon as they do not. */
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

/** Returns the processor time of an attempt in this thread, in milliseconds. */
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
