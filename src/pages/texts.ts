/**
 * What pages say, in English: another language is another file of this shape. Names, sizes and times come from elsewhere.
 * Texts with a number or a name in them are functions.
 */
export const TEXTS = {
  /** RFC 5646. */
  language: "en",
  direction: "ltr",

  failure: {
    signIn: "Sign in",
    status: "Status",
    code: "Code",
    request: "Request",
    help: "If you ask for help, name the request.",
  },

  listing: {
    title: "Shared files",
    titleBelow: (path: string) => `Shared files: ${path}`,
    up: "Up to the directory above",
    next: "Next part",
    name: "Name",
    modified: "Modified",
    size: "Size",
    entries: (count: number) => count === 1 ? "1 entry" : `${count} entries`,
    notAll: ", and more that are not shown",
    omitted: (count: number) => `; ${count} in this directory cannot be shown`,
    neverListed: "Names that are not UTF-8, and links that lead nowhere, are never listed.",
  },
} as const;
