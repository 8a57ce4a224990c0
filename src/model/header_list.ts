/**
 * Header fields as alternating names and values, as in `node:http` and between workers, so that nobody copies them.
 * Cheaper than `Headers`; names are case-insensitive, repeated values are joined by `, `.
 */
export class HeaderList {
  /** @param fields Kept and changed by the list. */
  constructor(readonly fields: string[] = []) {}

  /** @throws {TypeError} As {@link append}. */
  static of(fields: Readonly<Record<string, string>>): HeaderList {
    const list = new HeaderList();
    for (const [name, value] of Object.entries(fields)) list.fields.push(name, checked(name, value));
    return list;
  }

  get(name: string): string | null {
    const first = this.#find(name);
    if (first === -1) return null;
    let value = this.fields[first + 1] ?? "";
    for (let at = first; (at = this.#find(name, at + 2)) !== -1;) value += `, ${this.fields[at + 1]}`;
    return value;
  }

  has(name: string): boolean {
    return this.#find(name) !== -1;
  }

  /** @throws {TypeError} As {@link append}. */
  set(name: string, value: string): void {
    this.delete(name);
    this.fields.push(name, checked(name, value));
  }

  /** @throws {TypeError} If the value contains a line end, which could inject fields. */
  append(name: string, value: string): void {
    const before = this.get(name);
    this.set(name, before === null ? value : `${before}, ${value}`);
  }

  /** Adds a separate field, as `Set-Cookie` needs (RFC 9110, 5.3). @throws {TypeError} As {@link append}. */
  add(name: string, value: string): void {
    this.fields.push(name, checked(name, value));
  }

  delete(name: string): void {
    for (let at = 0; (at = this.#find(name, at)) !== -1;) this.fields.splice(at, 2);
  }

  /** Returns the index of the next such field, or -1. */
  #find(name: string, from = 0): number {
    const { fields } = this;
    for (let at = from; at < fields.length; at += 2) {
      const field = fields[at];
      if (field?.length !== name.length) continue;
      if (field === name || field.toLowerCase() === name.toLowerCase()) return at;
    }
    return -1;
  }
}

function checked(name: string, value: string): string {
  if (/[\0\r\n]/.test(value)) throw new TypeError(`NUL, CR or LF in a value of ${name}`);
  return value;
}
