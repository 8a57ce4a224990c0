/** Returns the result of a file system call; `undefined` if the file is absent. */
export async function unlessAbsent<T>(look: Promise<T>): Promise<T | undefined> {
  try {
    return await look;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
}
