/** Compares two values for sorting: below, above or equal to 0. Texts compare by UTF-16 code units. */
export function compare<Value extends string | number | boolean>(a: Value, b: Value): number {
  return Number(a > b) - Number(a < b);
}
