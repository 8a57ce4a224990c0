/** Writes a program into the place of another one, which may be running. */
export async function replaceFile(file: string, content: Uint8Array): Promise<void> {
  await Deno.writeFile(`${file}.new`, content, { mode: 0o755 });
  await Deno.rename(`${file}.new`, file);
}
