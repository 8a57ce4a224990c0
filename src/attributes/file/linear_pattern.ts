import { attempt } from "../../model/attempt.ts";
import { foldCharacters } from "../../model/distinguished_name.ts";

/** Parsed pattern, case-insensitive. */
type Pattern =
  /** `literal`: the only matching character; absent for classes. */
  | {
    readonly kind: "character";
    readonly matches: (character: string) => boolean;
    readonly literal?: string;
  }
  | { readonly kind: "sequence" | "choice"; readonly parts: readonly Pattern[] }
  | { readonly kind: "repeat"; readonly part: Pattern; readonly least: number; readonly most: number }
  | { readonly kind: "start" | "end" };

/** Error for an invalid pattern, or one without bounded matching time. */
export class InvalidPattern extends Error {}

const MAX_LENGTH = 1000; // characters
const MAX_REPEAT = 1000;

const QUANTIFIER = /[*+?]|\{([0-9]{1,4})(?:(,)([0-9]{0,4}))?\}/y;
const CLASS = /\[\^?(?:\\[^]|[^\]\\])+\]/y;
const ESCAPE =
  /\\(?:[dDwWsS]|p\{[\w=]{1,50}\}|P\{[\w=]{1,50}\}|x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}|[^A-Za-z0-9])/uy;

/**
 * Parses a regular expression: literals, `.`, `[classes]`, `\d` etc., groups, `|`, greedy and lazy
 * quantifiers, `^`, `$`, `\Q…\E`; refuses back references, look-around and possessive quantifiers. Folds
 * literals like names (NFKD, lower case).
 * @throws {InvalidPattern}
 */
export function parsePattern(text: string): Pattern {
  if (text.length > MAX_LENGTH) throw new InvalidPattern(`expected at most ${MAX_LENGTH} characters`);
  return new PatternReader(text.replace(/^\(\?i\)/, "")).whole();
}

class PatternReader {
  #at = 0;
  #depth = 0;

  constructor(readonly text: string) {}

  whole(): Pattern {
    const pattern = this.#choice();
    if (this.#at < this.text.length) this.#fail("a group that was opened before )");
    return pattern;
  }

  #choice(): Pattern {
    const parts = [this.#sequence()];
    while (this.text[this.#at] === "|") {
      this.#at++;
      parts.push(this.#sequence());
    }
    return { kind: "choice", parts };
  }

  #sequence(): Pattern {
    const parts: Pattern[] = [];
    while (this.#at < this.text.length && this.text[this.#at] !== "|" && this.text[this.#at] !== ")") {
      const atoms = this.text.startsWith("\\Q", this.#at) ? this.#quotation() : [this.#atom()];
      const last = atoms.at(-1);
      // A quantifier after a quotation applies to its last character.
      if (last !== undefined) parts.push(...atoms.slice(0, -1), this.#quantified(last));
    }
    return { kind: "sequence", parts: withHexPairs(parts) };
  }

  #quantified(part: Pattern): Pattern {
    const [whole, least, comma, most] = this.#take(QUANTIFIER) ?? [];
    if (whole === undefined) return part;
    if (part.kind === "start" || part.kind === "end") this.#fail("something to repeat");
    // Laziness does not matter for whole texts; possessiveness does.
    if (this.text[this.#at] === "?") this.#at++;
    if (/[*+{]/.test(this.text[this.#at] ?? "")) this.#fail("one quantifier, and none that is possessive");
    const [low, high] = whole === "*"
      ? [0, Infinity]
      : whole === "+"
      ? [1, Infinity]
      : whole === "?"
      ? [0, 1]
      : [Number(least), comma === undefined ? Number(least) : most === "" ? Infinity : Number(most)];
    if (low > high || low > MAX_REPEAT || (high > MAX_REPEAT && high !== Infinity)) {
      this.#fail(`repetitions in rising order, up to ${MAX_REPEAT}`);
    }
    return { kind: "repeat", part, least: low, most: high };
  }

  #atom(): Pattern {
    const found = this.text[this.#at];
    switch (found) {
      case "(":
        return this.#group();
      case "[":
        return this.#class();
      case "\\":
        return this.#escape();
      case ".":
        this.#at++;
        return { kind: "character", matches: () => true };
      case "^":
      case "$":
        this.#at++;
        return { kind: found === "^" ? "start" : "end" };
      case "*":
      case "+":
      case "?":
      case "{":
        return this.#fail("something to repeat");
      default: {
        const literal = String.fromCodePoint(this.text.codePointAt(this.#at) ?? 0);
        this.#at += literal.length;
        return literalPattern(literal);
      }
    }
  }

  #group(): Pattern {
    const [opening] = this.#take(/\((?:\?:|\?<[A-Za-z]\w*>|(?!\?))/y) ?? [];
    if (opening === undefined) this.#fail("a group without look-around or flags");
    if (++this.#depth > 50) this.#fail("at most 50 groups in each other");
    const inside = this.#choice();
    if (this.text[this.#at] !== ")") this.#fail(")");
    this.#at++;
    this.#depth--;
    return inside;
  }

  #class(): Pattern {
    const [text] = this.#take(CLASS) ?? this.#fail("a class such as [a-z]");
    const inside = text.slice(1, -1).replace(/\\[^]/g, "");
    if (inside.includes("[") || inside.includes("&&")) this.#fail("a class without [ and && inside");
    // Folded names contain only decomposed characters.
    if (text !== text.normalize("NFKD") || /\p{M}/u.test(text)) {
      this.#fail("a class of characters without accents; write (?:ü|u)");
    }
    return this.#single(text);
  }

  #escape(): Pattern {
    const [text] = this.#take(ESCAPE) ??
      this.#fail("an escape such as \\. \\d or \\u00fc, no back reference");
    if (/^\\[dDwWsSpP]/.test(text)) return this.#single(text);
    const code = /^\\[xu](.+)/.exec(text)?.[1];
    return literalPattern(code === undefined ? text.slice(1) : String.fromCharCode(parseInt(code, 16)));
  }

  #quotation(): readonly Pattern[] {
    const start = this.#at + 2;
    const end = this.text.indexOf("\\E", start);
    const stop = end < 0 ? this.text.length : end;
    this.#at = end < 0 ? stop : stop + 2;
    return [...this.text.slice(start, stop)].map(literalPattern);
  }

  /** Parses a class with the built-in matcher, which needs no backtracking for one character. */
  #single(text: string): Pattern {
    const expected = `a valid class instead of ${text}`;
    const expression = attempt(() => new RegExp(`^${text}$`, "iu"), SyntaxError, () => this.#fail(expected));
    return { kind: "character", matches: (character) => expression.test(character) };
  }

  #take(expression: RegExp): RegExpExecArray | null {
    expression.lastIndex = this.#at;
    const found = expression.exec(this.text);
    this.#at += found?.[0].length ?? 0;
    return found;
  }

  #fail(expected: string): never {
    throw new InvalidPattern(`expected ${expected} (at character ${this.#at + 1} of the pattern)`);
  }
}

function literalPattern(literal: string): Pattern {
  const parts = [...foldCharacters(literal)].map(
    (wanted): Pattern => ({
      kind: "character",
      matches: (character) => character === wanted,
      literal: wanted,
    }),
  );
  const [only, ...others] = parts;
  return only !== undefined && others.length === 0 ? only : { kind: "sequence", parts };
}

/** Replaces a backslash before a separator by its hexadecimal form in values, as old patterns expect. */
function withHexPairs(parts: readonly Pattern[]): readonly Pattern[] {
  const endsValue = (pattern: Pattern) => pattern.kind === "character" && [..."+,"].some(pattern.matches);
  const replaced: Pattern[] = [];
  let inValue = false;
  for (const part of parts) {
    const literal = literalOf(part);
    const isEscaped = literalOf(replaced.at(-1)) === "\\" && literal !== undefined &&
      '",+;<>=\\#'.includes(literal);
    if (isEscaped) replaced.push(...[...literal.charCodeAt(0).toString(16)].map(literalPattern));
    // Behind one `=`, up to a separator, another one can only be part of the value.
    else if (literal === "=" && inValue) replaced.push(...[..."\\3d"].map(literalPattern));
    else {
      replaced.push(part);
      inValue = literal === "=" || (inValue && !contains(part, endsValue));
    }
  }
  return replaced;
}

function literalOf(part: Pattern | undefined): string | undefined {
  return part?.kind === "character" ? part.literal : undefined;
}

/** Reports whether a wildcard can match several parts of a name; a lone wildcard matches everybody on purpose. */
function spansParts(pattern: Pattern): boolean {
  const whole = onlyPartOf(pattern);
  return !(whole.kind === "repeat" && matchesSeparators(whole.part)) && hasBroadWildcard(whole);
}

function onlyPartOf(pattern: Pattern): Pattern {
  const [only, ...others] = "parts" in pattern ? pattern.parts : [];
  return only === undefined || others.length > 0 ? pattern : onlyPartOf(only);
}

function hasBroadWildcard(pattern: Pattern): boolean {
  if (pattern.kind === "repeat") {
    return (pattern.most > 1 && contains(pattern.part, matchesSeparators)) || hasBroadWildcard(pattern.part);
  }
  if (!("parts" in pattern)) return false;
  const besideAnother = (part: Pattern, i: number, parts: readonly Pattern[]) =>
    pattern.kind === "sequence" && matchesSeparators(part) && matchesSeparators(parts[i + 1]);
  return pattern.parts.some(besideAnother) || pattern.parts.some(hasBroadWildcard);
}

function contains(pattern: Pattern, wanted: (pattern: Pattern) => boolean): boolean {
  if (pattern.kind === "repeat") return contains(pattern.part, wanted);
  return "parts" in pattern ? pattern.parts.some((part) => contains(part, wanted)) : wanted(pattern);
}

/** Reports whether a character may match separators and values. */
function matchesSeparators(pattern: Pattern | undefined): boolean {
  return pattern?.kind === "character" && pattern.literal === undefined &&
    [..."+,"].some(pattern.matches) && [..."abcdefghijklmnopqrstuvwxyz0123456789"].some(pattern.matches);
}

const MAX_STEPS = 4000; // most compiled steps; repetitions are unrolled

type Step =
  | { readonly kind: "character"; readonly matches: (character: string) => boolean }
  | { readonly kind: "start" | "end" }
  | { readonly kind: "fork"; readonly to: readonly number[] }
  | { readonly kind: "accept" };

/** Regular expression in time O(pattern × text) (Thompson): `(a+)+b` keeps the built-in matcher busy for years. */
export class LinearPattern {
  readonly #steps: Step[] = [];
  readonly spansParts: boolean;

  constructor(text: string) {
    const pattern = parsePattern(text);
    this.spansParts = spansParts(pattern);
    this.#compile(pattern);
    this.#steps.push({ kind: "accept" });
  }

  /** Matches a whole text, case-insensitively. @param text Folded as names are. */
  matches(text: string): boolean {
    const characters = [...text];
    let active = this.#reach([0], 0, characters.length);
    for (const [at, character] of characters.entries()) {
      const next: number[] = [];
      for (const index of active) {
        const step = this.#steps[index];
        if (step?.kind === "character" && step.matches(character)) next.push(index + 1);
      }
      if (next.length === 0) return false;
      active = this.#reach(next, at + 1, characters.length);
    }
    return active.has(this.#steps.length - 1);
  }

  #reach(from: readonly number[], at: number, end: number): ReadonlySet<number> {
    const reached = new Set<number>();
    const waiting = [...from];
    for (let index = waiting.pop(); index !== undefined; index = waiting.pop()) {
      if (reached.has(index)) continue;
      reached.add(index);
      const step = this.#steps[index];
      if (step?.kind === "fork") waiting.push(...step.to);
      else if (step?.kind === "start" ? at === 0 : step?.kind === "end" && at === end) {
        waiting.push(index + 1);
      }
    }
    return reached;
  }

  #compile(pattern: Pattern): void {
    switch (pattern.kind) {
      case "sequence":
        for (const part of pattern.parts) this.#compile(part);
        break;
      case "choice":
        this.#compileChoice(pattern.parts);
        break;
      case "repeat":
        this.#compileRepeat(pattern.part, pattern.least, pattern.most);
        break;
      default:
        this.#add(pattern);
    }
  }

  #compileChoice(parts: readonly Pattern[]): void {
    const starts: number[] = [];
    const exits: number[] = [];
    this.#add({ kind: "fork", to: starts });
    for (const [i, part] of parts.entries()) {
      starts.push(this.#steps.length);
      this.#compile(part);
      if (i < parts.length - 1) exits.push(this.#add({ kind: "fork", to: [] }));
    }
    for (const exit of exits) this.#steps[exit] = { kind: "fork", to: [this.#steps.length] };
  }

  #compileRepeat(part: Pattern, least: number, most: number): void {
    for (let i = 0; i < least; i++) this.#compile(part);
    const optional = most === Infinity ? 1 : most - least;
    const forks: number[] = [];
    for (let i = 0; i < optional; i++) {
      forks.push(this.#add({ kind: "fork", to: [] }));
      this.#compile(part);
    }
    if (most === Infinity) this.#add({ kind: "fork", to: [forks[0] ?? 0] });
    for (const fork of forks) this.#steps[fork] = { kind: "fork", to: [fork + 1, this.#steps.length] };
  }

  #add(step: Step): number {
    if (this.#steps.length >= MAX_STEPS) {
      throw new InvalidPattern("expected a shorter pattern, or fewer repetitions");
    }
    return this.#steps.push(step) - 1;
  }
}
