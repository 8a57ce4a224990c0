/** Media types of pictures that cannot hold scripts, by lower-case extension. */
export const IMAGE_TYPES: ReadonlyMap<string, string> = new Map([
  ["avif", "image/avif"],
  ["bmp", "image/bmp"],
  ["gif", "image/gif"],
  ["jpeg", "image/jpeg"],
  ["jpg", "image/jpeg"],
  ["png", "image/png"],
  ["webp", "image/webp"],
]);

const TEXT_ENDS = new Set(
  ("bib c cfg conf cpp csv dat diff err f90 go h hpp html ini java js json log md out pdb pl py r rst rs sh sql svg tex " +
    "toml tsv txt xml yaml yml").split(" "),
);

/** Returns the media type of a picture that is safe to show. */
export function imageType(name: string): string | undefined {
  return IMAGE_TYPES.get(endOf(name));
}

/** Reports whether a preview is worth offering for this name. */
export function isViewable(name: string): boolean {
  return imageType(name) !== undefined || TEXT_ENDS.has(endOf(name));
}

function endOf(name: string): string {
  const dot = name.lastIndexOf(".");
  return dot < 0 ? "" : name.slice(dot + 1).toLowerCase();
}
