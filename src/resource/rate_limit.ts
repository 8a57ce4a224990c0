/** The lower of limits in bytes per second; 0 and `undefined` are no limit, and if none is left, 0 is the answer. */
export function lowestLimit(...limits: readonly (number | undefined)[]): number {
  const real = limits.filter((limit) => limit !== undefined && limit > 0);
  return real.length === 0 ? 0 : Math.min(...real.map(Number));
}
