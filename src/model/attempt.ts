/** Returns the result of some work, or what `otherwise` makes of its error of a class. @throws Other errors. */
export function attempt<T, E extends Error, U>(
  work: () => T,
  kind: abstract new (...given: never[]) => E,
  otherwise: (error: E) => U,
): T | U {
  try {
    return work();
  } catch (error) {
    if (error instanceof kind) return otherwise(error);
    throw error;
  }
}
