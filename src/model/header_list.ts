/** The reading of header fields, by names in any case; `Headers` does it. Values of a repeated field are joined by `, `. */
export interface HeaderReader {
  get(name: string): string | null;
  has(name: string): boolean;
}

/** The writing of header fields; `Headers` does it. */
export interface HeaderWriter extends HeaderReader {
  set(name: string, value: string): void;
  append(name: string, value: string): void;
  delete(name: string): void;
}

/** Header fields as a plain list: what `Headers` is for the web, at a small part of its price. */
export class HeaderList implements HeaderWriter {
  /** By name in lower case. */
  readonly #fields = new Map<string, string>();

  constructor(fields: Iterable<readonly [name: string, value: string]> = []) {
    for (const [name, value] of fields) this.append(name, value);
  }

  /** @param raw Names and values in turn. */
  static fromRaw(raw: readonly string[]): HeaderList {
    const list = new HeaderList();
    for (let i = 0; i + 1 < raw.length; i += 2) list.append(raw[i] ?? "", raw[i + 1] ?? "");
    return list;
  }

  get(name: string): string | null {
    return this.#fields.get(name.toLowerCase()) ?? null;
  }

  has(name: string): boolean {
    return this.#fields.has(name.toLowerCase());
  }

  /** @throws {TypeError} If the value could end its line and so become more than one field. */
  set(name: string, value: string): void {
    this.#fields.set(name.toLowerCase(), checked(name, value));
  }

  /** @throws {TypeError} As {@link set}. */
  append(name: string, value: string): void {
    const before = this.get(name);
    const more = checked(name, value);
    this.#fields.set(name.toLowerCase(), before === null ? more : `${before}, ${more}`);
  }

  delete(name: string): void {
    this.#fields.delete(name.toLowerCase());
  }

  [Symbol.iterator](): Iterator<[name: string, value: string]> {
    return this.#fields.entries();
  }
}

function checked(name: string, value: string): string {
  if (/[\0\r\n]/.test(value)) throw new TypeError(`NUL, CR or LF in a value of ${name}`);
  return value;
}
