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
  ("bib c cfg conf cpp csv diff err f90 go h hpp html ini java js json log md pdb pl py r rst rs sh sql svg tex " +
    "toml tsv txt xml yaml yml").split(" "),
);

/** Returns the media type of a picture that is safe to show. */
export function imageType(name: string): string | undefined {
  return IMAGE_TYPES.get(endOf(name));
}

/** Returns the media type of a file that browsers show without running scripts in this origin: a picture, or a PDF. */
export function inlineType(name: string): string | undefined {
  return endOf(name) === "pdf" ? "application/pdf" : imageType(name);
}

/** Returns the query of the preview of a file, if one is worth offering for its name and size. */
export function previewQuery(name: string, size: number | undefined): string | undefined {
  if (size === 0) return undefined;
  if (imageType(name) !== undefined || TEXT_ENDS.has(endOf(name))) return "view=preview";
  return inlineType(name) === undefined ? undefined : "view=inline";
}

function endOf(name: string): string {
  const dot = name.lastIndexOf(".");
  return dot < 0 ? "" : name.slice(dot + 1).toLowerCase();
}
