/** A number is its place in a table, and above that how often the place was used before. More places than sockets. */
const PLACES = 2 ** 20;
/** Where the count of uses starts again; no message is that late. */
const NUMBERS = 2 ** 52;

/** Numbers for exchanges: a small range of places, used again and again, each time under another number. */
export class CallNumbers {
  /** The number that each place had last. */
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
 * Exchanges by number. A number whose exchange is over finds nothing, not even if its place is in use again.
 *
 * A `Map` would be less code. But one whose entries come and go with every request moves to a new table all the time,
 * and in V8 a dead table that has reached the old generation keeps the next one alive, and all requests with it, until
 * the next full collection: young collections took five times as long.
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

  /** @returns Whether it was there. */
  delete(number: number): boolean {
    if (this.get(number) === undefined) return false;
    this.#places[number % PLACES] = undefined;
    return true;
  }

  /** All numbers in the table. */
  numbers(): number[] {
    return this.#places.flatMap((found) => found?.number ?? []);
  }
}
