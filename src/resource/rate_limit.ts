/** The lower of limits in bytes per second, of which 0 is none; 0 if there is no limit at all. */
export function lowestLimit(...limits: readonly number[]): number {
  const real = limits.filter((limit) => limit > 0);
  return real.length === 0 ? 0 : Math.min(...real);
}
