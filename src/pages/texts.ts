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

  signIn: {
    title: (site: string) => `${site}: sign in`,
    user: "User name",
    password: "Password",
    button: "Sign in",
    certificate: "This browser shows the certificate of",
    byProvider: (title: string) => `Sign in with ${title}`,
    byCertificate: "Go on with it",
    noCertificate:
      "Who has a certificate in this browser can sign in with that, too. The browser has shown none.",
    wrong: "This is not right. Please try again.",
    signedInAs: "Signed in as",
    until: "until",
    signOut: "Sign out",
    closeBrowser: "To sign out, close the browser.",
  },

  listing: {
    sharedBy: "Shared by",
    until: "until",
    muchData: "For large files and many of them, on a command line:",
    zip: "Download all as one .zip file",
    trail: "Directories above",
    find: "Names with",
    search: "Search",
    all: "Show all",
    first: "First part",
    next: "Next part",
    name: "Name",
    /** @param zone Such as `UTC+01:00`. */
    modified: (zone: string | undefined) => zone === undefined ? "Modified" : `Modified (${zone})`,
    size: "Size",
    preview: "Preview",
    entries: (count: number) => count === 1 ? "1 entry" : `${count} entries`,
    found: " with ",
    notAll: ", and more that are not shown",
    omitted: (count: number) => `; ${count} in this directory cannot be shown`,
    neverListed: "Names that are not UTF-8, and links that lead nowhere, are never listed.",
  },

  preview: {
    download: "Download",
    picture: (name: string) => `The picture ${name}`,
    beginning: "This is the beginning. Download the file to see the rest.",
    nothing: "There is no preview: the file is neither a picture that browsers show nor text in UTF-8.",
  },
} as const;
