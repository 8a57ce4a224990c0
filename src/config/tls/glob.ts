import { join, parse } from "node:path";
import { matchesWildcards } from "../../model/wildcards.ts";

/** Reports whether a path contains `*` or `?`. */
export function isPattern(path: string): boolean {
  return /[*?]/.test(path);
}

/** Returns the files that match an absolute pattern with `*` and `?`, sorted, and the folders that it searched, readable or not. */
export async function matchingFiles(pattern: string, unreadable: (error: unknown) => undefined) {
  const { root } = parse(pattern);
  const parts = pattern.slice(root.length).split(/[/\\]/);
  const folders: string[] = [];
  let found = [root];
  for (const [index, part] of parts.entries()) {
    const last = index === parts.length - 1;
    const next: string[] = [];
    for (const folder of found) {
      if (!isPattern(part)) next.push(join(folder, part));
      else {
        folders.push(folder);
        const names = await matchingNames(folder, part, last).catch(unreadable);
        for (const name of names ?? []) next.push(join(folder, name));
      }
    }
    found = next;
  }
  return { files: found.sort(), folders };
}

async function matchingNames(folder: string, pattern: string, files: boolean): Promise<string[]> {
  const names: string[] = [];
  try {
    for await (const entry of Deno.readDir(folder)) {
      if (entry.name.startsWith(".") && !pattern.startsWith(".")) continue;
      if (matchesWildcards(entry.name, pattern) && (files ? !entry.isDirectory : !entry.isFile)) {
        names.push(entry.name);
      }
    }
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound || error instanceof Deno.errors.NotADirectory)) throw error;
  }
  return names.sort();
}
