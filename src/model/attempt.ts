type ErrorClass<E extends Error> = abstract new (...given: never[]) => E;

/** Returns a handler for `catch()` that passes errors of a class to `otherwise`, and throws others. */
export function onError<E extends Error, U>(kind: ErrorClass<E>, otherwise: (error: E) => U) {
  return (error: unknown): U => {
    if (error instanceof kind) return otherwise(error);
    throw error;
  };
}

/** Returns the result of some work, or what `otherwise` makes of its error of a class. @throws Other errors. */
export function attempt<T, E extends Error, U>(
  work: () => T,
  kind: ErrorClass<E>,
  otherwise: (error: E) => U,
): T | U {
  try {
    return work();
  } catch (error) {
    return onError(kind, otherwise)(error);
  }
}
