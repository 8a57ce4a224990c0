/**
 * Header fields: names and values in turn, as `node:http` has them and as they cross between workers, so that nobody has to
 * make a copy. What `Headers` is for the web, at a small part of its price: names in any case, and the values of a
 * repeated field joined by `, `.
 */
export class HeaderList {
  /** @param fields Names and values in turn, as received. The list keeps and changes them. */
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

  /** @throws {TypeError} If the value could end its line and so become more than one field. */
  append(name: string, value: string): void {
    const before = this.get(name);
    this.set(name, before === null ? value : `${before}, ${value}`);
  }

  /**
   * Adds a field of its own, whether there are others of that name, as `Set-Cookie` needs it (RFC 9110, 5.3).
   * @throws {TypeError} As {@link append}.
   */
  add(name: string, value: string): void {
    this.fields.push(name, checked(name, value));
  }

  delete(name: string): void {
    for (let at = 0; (at = this.#find(name, at)) !== -1;) this.fields.splice(at, 2);
  }

  /** Where the next field of that name is, -1 if there is none. Few names are of the same length. */
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
