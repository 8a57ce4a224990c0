/** Returns the lowest limit in bytes per second; 0 is unlimited. */
export function lowestLimit(...limits: readonly number[]): number {
  const real = limits.filter((limit) => limit > 0);
  return real.length === 0 ? 0 : Math.min(...real);
}
