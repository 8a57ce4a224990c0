import {
  pageForStrangers,
  signInByForm,
  signInFailed,
  signInPage,
  type SignInParts,
  signOut,
} from "../../pages/sign_in_page.ts";
import { backFromProvider, leaveForProvider } from "../../pages/sign_in_by_provider.ts";
import { challengeBrowser } from "../../resource/challenge_browser.ts";
import { FORM_TYPE, type PublishedRoute, type Route } from "./router.ts";

/** Where somebody signs in. @param unauthenticated The error that asks a caller for credentials. */
export function loginRoute(
  parts: SignInParts,
  unauthenticated: (reason: string) => Error,
): PublishedRoute {
  return {
    method: "GET",
    path: "/login",
    service: "auth",
    heedsCapabilities: true,
    signedIn: true,
    doc: {
      id: "signIn",
      summary: "Has somebody sign in: browsers by a page, others by a challenge for credentials",
      answers: {
        200: { description: "The page", content: { "text/html": "text" } },
        303: { description: "Signed in", headers: { Location: "The status page" } },
      },
    },
    answer: (call) => challengeBrowser(call, unauthenticated),
    page: (call) => signInPage(call, parts),
    failed: (failure, asked) => pageForStrangers(failure, asked, parts),
  };
}

/** How browsers are signed in and out: forms of pages. */
export function signInRoutes(parts: SignInParts): Route[] {
  return [
    {
      method: "POST",
      path: "/login",
      service: "open",
      consumes: FORM_TYPE,
      audit: "login",
      answer: (call) => signInByForm(call, parts),
      failed: (failure, asked) => signInFailed(failure, asked, parts),
    },
    ...(parts.ways.providers.size === 0 ? [] : providerRoutes(parts)),
    {
      method: "POST",
      path: "/logout",
      service: "auth",
      permission: "GET",
      heedsCapabilities: true,
      signedIn: true,
      consumes: FORM_TYPE,
      answer: (call) => signOut(call, parts),
    },
  ];
}

/** The way to a provider, and back. */
function providerRoutes(parts: SignInParts): Route[] {
  const way: Pick<Route, "method" | "service" | "failed"> = {
    method: "GET",
    service: "open",
    failed: (failure, asked) => signInFailed(failure, asked, parts),
  };
  return [
    { ...way, path: "/login/:way", answer: (call) => leaveForProvider(call, parts) },
    { ...way, path: "/login/:way/done", audit: "login", answer: (call) => backFromProvider(call, parts) },
  ];
}
