/** Powers of 2 in the field of 256 elements with x⁸ + x⁴ + x³ + x² + 1 (ISO/IEC 18004, 7.5.2), twice, and what they are powers of. */
const { POWERS, LOGARITHMS } = (() => {
  const powers = new Uint8Array(510);
  const logarithms = new Uint8Array(256);
  let value = 1;
  for (let exponent = 0; exponent < 255; exponent++) {
    powers[exponent] = value;
    powers[exponent + 255] = value;
    logarithms[value] = exponent;
    value = value < 128 ? value * 2 : (value * 2) ^ 0x11d;
  }
  return { POWERS: powers, LOGARITHMS: logarithms };
})();

/** The product of two elements of the field. */
function product(a: number, b: number): number {
  if (a === 0 || b === 0) return 0;
  return POWERS[(LOGARITHMS[a] ?? 0) + (LOGARITHMS[b] ?? 0)] ?? 0;
}

/** An element of the field, by the exponent of 2: at most 254. */
function powerOfTwo(exponent: number): number {
  return POWERS[exponent] ?? 0;
}

/** The codewords that let a reader correct errors in others: the remainder of a division by a generator polynomial. */
export function correctionCodewords(data: Uint8Array, count: number): Uint8Array {
  const generator = generatorOf(count);
  const remainder = new Uint8Array(count);
  for (const codeword of data) {
    const factor = codeword ^ (remainder[0] ?? 0);
    remainder.copyWithin(0, 1);
    remainder[count - 1] = 0;
    for (const [i, coefficient] of generator.entries()) {
      remainder[i] = (remainder[i] ?? 0) ^ product(coefficient, factor);
    }
  }
  return remainder;
}

/** Coefficients of (x - 2⁰)(x - 2¹)…, the highest power first and left out, as it is 1. */
function generatorOf(degree: number): Uint8Array {
  const coefficients = new Uint8Array(degree);
  coefficients[degree - 1] = 1;
  for (let exponent = 0; exponent < degree; exponent++) {
    const root = powerOfTwo(exponent);
    for (let i = 0; i < degree; i++) {
      coefficients[i] = product(coefficients[i] ?? 0, root) ^ (coefficients[i + 1] ?? 0);
    }
  }
  return coefficients;
}
