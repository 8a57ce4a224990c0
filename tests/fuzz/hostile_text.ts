import fc from "fast-check";
import { CHARACTER } from "../fixtures/character.ts";

/** Pieces of text that have a meaning for some parser, or that have broken one. */
const PIECES = [
  ..."\0\t\n\r \"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~",
  "\r\n",
  "\u0085",
  "\u00a0",
  "\u2028",
  "\u202e",
  "\ufeff",
  "\ufffd",
  "\ud800",
  "ß",
  "ﬀ",
  "😀",
  "__proto__",
  "constructor",
  "toString",
  "null",
  "true",
  "NaN",
  "-0",
  "1e999",
  "9007199254740993",
  "../",
  "//",
  "%00",
  "%2e%2e%2f",
  "\\u0000",
  "&lt;",
  "&#0;",
  "&x;",
  "<!DOCTYPE a [<!ENTITY x 'y'>]>",
  "<![CDATA[",
  "]]>",
  "<!--",
  "-->",
  "END",
  "user=root",
];

/** Repetitions longer than anybody writes, but short enough for a million cases. */
const REPEATED = fc.tuple(
  fc.constantFrom("a", "(", "[", "{", "<a>", ",", "\\", "*", "0", "="),
  fc.integer({ min: 50, max: 2000 }),
)
  .map(([piece, count]) => piece.repeat(count));

const PIECE = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(...PIECES) },
  { weight: 2, arbitrary: fc.string({ unit: CHARACTER, maxLength: 6 }) },
  { weight: 1, arbitrary: REPEATED },
);

/** Change of a good text: `piece` replaces `remove` characters at `at`, which is a fraction of the length. */
const EDIT = fc.record({
  at: fc.double({ min: 0, max: 1, noNaN: true }),
  remove: fc.oneof(fc.integer({ min: 0, max: 3 }), fc.integer({ min: 0, max: 200 })),
  piece: fc.oneof(fc.constant(""), PIECE),
  /** Whether to double the removed characters instead of inserting the piece. */
  again: fc.boolean(),
});

/**
 * Returns good texts, most of them changed in some places, and sometimes other texts. Enough stay good: in
 * the smallest number of cases, with two texts each, a parser finds nothing to accept once in a million runs.
 */
export function hostileText(...good: readonly string[]): fc.Arbitrary<string> {
  const spoiled = fc.tuple(fc.constantFrom(...good), fc.array(EDIT, { minLength: 1, maxLength: 4 })).map(
    ([text, edits]) =>
      edits.reduce((sofar, { at, remove, piece, again }) => {
        const from = Math.floor(at * sofar.length);
        const there = sofar.slice(from, from + remove);
        return sofar.slice(0, from) + (again ? there + there : piece) + sofar.slice(from + remove);
      }, text),
  );
  return fc.oneof(
    { weight: 8, arbitrary: spoiled },
    { weight: 4, arbitrary: fc.constantFrom(...good) },
    { weight: 1, arbitrary: fc.array(PIECE, { maxLength: 12 }).map((pieces) => pieces.join("")) },
    { weight: 1, arbitrary: fc.string({ unit: CHARACTER, maxLength: 60 }) },
  );
}

/** Returns good bytes with some bytes changed or the end cut off, and sometimes random bytes. */
export function hostileBytes(...good: readonly Uint8Array[]): fc.Arbitrary<Uint8Array> {
  const flips = fc.array(
    fc.tuple(fc.double({ min: 0, max: 1, noNaN: true }), fc.integer({ min: 0, max: 255 })),
    {
      maxLength: 8,
    },
  );
  const cut = fc.oneof({ weight: 3, arbitrary: fc.constant(1) }, fc.double({ min: 0, max: 1, noNaN: true }));
  return fc.oneof(
    {
      weight: 9,
      arbitrary: fc.tuple(fc.constantFrom(...good), flips, cut).map(([bytes, flips, length]) => {
        const copy = Uint8Array.from(bytes.subarray(0, Math.ceil(length * bytes.length)));
        for (const [at, value] of flips) {
          if (copy.length > 0) copy[Math.floor(at * (copy.length - 1))] = value;
        }
        return copy;
      }),
    },
    { weight: 1, arbitrary: fc.uint8Array({ maxLength: 200 }) },
  );
}
