import { administers } from "../resource/admin/administration.ts";
import type { PartialCall } from "../resource/call.ts";
import { ownForm } from "./elements.ts";
import { type Content, isolated, type Markup, markup } from "./markup.ts";
import { TEXTS } from "./texts.ts";

/** Names of the pages in the header, by their addresses below the root. */
const PAGES = {
  "": TEXTS.header.servers,
  "files": TEXTS.header.files,
  "shares": TEXTS.header.shares,
  "tokens": TEXTS.header.tokens,
  "help": TEXTS.header.help,
  "admin": TEXTS.header.administration,
};

export type HeaderPage = keyof typeof PAGES;

/** Returns the header of all pages: the pages that the reader can open, and the signed-in user. */
export function pageHeader(call: PartialCall, current: HeaderPage | undefined): Markup {
  const { menu, root, signIn, user } = call;
  const isOpen = (page: string) =>
    menu.has(`/${page}`) &&
    (page === "" || page === "help" ||
      (signIn !== undefined && (page !== "admin" || (user !== undefined && administers({ user, signIn })))));
  return markup`<header><nav aria-label="${TEXTS.header.pages}"><ul class="pages">${
    Object.entries(PAGES).filter(([page]) => isOpen(page)).map(([page, name]) =>
      markup`<li><a href="${root}${page}"${page === current && markup` aria-current="page"`}>${name}</a></li>`
    )
  }</ul></nav><div>${userInfo(call)}</div></header>`;
}

/** Returns the reader's name with a sign-out button, or the way to sign in. */
function userInfo({ caller, userName, user, signIn, root, menu }: PartialCall): Content {
  const says = TEXTS.signIn;
  if (caller === undefined || caller.kind === "anonymous") {
    return menu.has("/login") && markup`<a href="${root}login">${says.button}</a>`;
  }
  const { displayName, dn } = caller.identity;
  return [
    markup`${says.signedInAs} <strong>${isolated(displayName ?? userName ?? dn)}</strong>${
      displayName !== undefined && markup` (${isolated(user?.uid ?? userName ?? dn)})`
    }`,
    ownForm({ root, signIn }, "logout", markup`<button class="plain">${says.signOut}</button>`, ""),
  ];
}
