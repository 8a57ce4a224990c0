/** A call number is its place in the table plus a multiple of this. More places than sockets. */
const PLACES = 2 ** 20;
/** Limit at which the count of uses restarts. */
const NUMBERS = 2 ** 52;

/** Call numbers: a small range of places, reused under new numbers. */
export class CallNumbers {
  readonly #last: number[] = [];
  readonly #free: number[] = [];

  /** @throws {RangeError} If a million are in use. */
  take(): number {
    const place = this.#free.pop() ?? this.#last.length;
    if (place === PLACES) throw new RangeError("too many exchanges at once");
    const number = ((this.#last[place] ?? place) + PLACES) % NUMBERS;
    this.#last[place] = number;
    return number;
  }

  giveBack(number: number): void {
    this.#free.push(number % PLACES);
  }

  get inUse(): number {
    return this.#last.length - this.#free.length;
  }
}

/**
 * Calls by number; the number of a finished call finds nothing. Not a `Map`: with entries per request it is rebuilt
 * often, and V8 keeps dead tables in the old generation alive: young collections took five times as long.
 */
export class CallTable<T extends object> {
  readonly #places: ({ readonly number: number; readonly call: T } | undefined)[] = [];

  set(number: number, call: T): void {
    this.#places[number % PLACES] = { number, call };
  }

  get(number: number): T | undefined {
    const found = this.#places[number % PLACES];
    return found?.number === number ? found.call : undefined;
  }

  delete(number: number): boolean {
    if (this.get(number) === undefined) return false;
    this.#places[number % PLACES] = undefined;
    return true;
  }

  numbers(): number[] {
    return this.#places.flatMap((found) => found?.number ?? []);
  }
}
