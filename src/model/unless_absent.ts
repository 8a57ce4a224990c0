/** What a look at the file system brings; `undefined` if nothing is there. */
export async function unlessAbsent<T>(look: Promise<T>): Promise<T | undefined> {
  try {
    return await look;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
}
