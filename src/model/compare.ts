/** The order of two values, as sorting wants it: below, above or equal to 0. Texts go by their UTF-16 code units. */
export function compare<Value extends string | number | boolean>(a: Value, b: Value): number {
  return Number(a > b) - Number(a < b);
}
