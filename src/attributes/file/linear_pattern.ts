import { crossesParts, InvalidPattern, parsePattern, type Pattern } from "./pattern_syntax.ts";

const MAX_STEPS = 4000; // most compiled steps; repetitions are unrolled

type Step =
  | { readonly kind: "character"; readonly matches: (character: string) => boolean }
  | { readonly kind: "start" | "end" }
  | { readonly kind: "fork"; readonly to: readonly number[] }
  | { readonly kind: "accept" };

/** Regular expression in time O(pattern × text) (Thompson): `(a+)+b` keeps the built-in matcher busy for years. */
export class LinearPattern {
  readonly #steps: Step[] = [];
  readonly crossesParts: boolean;

  constructor(text: string) {
    const pattern = parsePattern(text);
    this.crossesParts = crossesParts(pattern);
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
