import { crossesParts, InvalidPattern, parsePattern, type Pattern } from "./pattern_syntax.ts";

/** Most steps a pattern may compile to; repetitions are written out. */
const MAX_STEPS = 4000;

type Step =
  | { readonly kind: "character"; readonly matches: (character: string) => boolean }
  | { readonly kind: "start" | "end" }
  /** Goes on at both places. */
  | { readonly kind: "fork"; readonly to: readonly number[] }
  | { readonly kind: "accept" };

/**
 * A regular expression that matches whole texts in time proportional to pattern length times text length, whatever the
 * two are: all ways to match are followed side by side (Thompson's construction), none is tried after another. A
 * pattern such as `(a+)+b` that keeps the language's own matcher busy for years is done here in microseconds.
 */
export class LinearPattern {
  readonly #steps: Step[] = [];
  /** See `crossesParts`. */
  readonly crossesParts: boolean;

  /** @throws {InvalidPattern} */
  constructor(text: string) {
    const pattern = parsePattern(text);
    this.crossesParts = crossesParts(pattern);
    this.#compile(pattern);
    this.#steps.push({ kind: "accept" });
  }

  /** Whether the whole text matches, without regard to case. @param text Folded as names are. */
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

  /** All steps that can be reached from these without reading a character. */
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
