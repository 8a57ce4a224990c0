import type { Call } from "../resource/call.ts";
import { FORM_TOKEN } from "../resource/form.ts";
import { type Content, isolated, markup } from "./markup.ts";
import { TEXTS } from "./texts.ts";

/** Returns the caller's name with a sign-out button. */
export function signedInAside({ caller, userName, user, signIn, root }: Call): Content {
  if (caller.kind === "anonymous") return undefined;
  const { displayName, dn } = caller.identity;
  const says = TEXTS.signIn;
  return [
    markup`${says.signedInAs} <strong>${isolated(displayName ?? userName ?? dn)}</strong>${
      displayName !== undefined && markup` (${isolated(user.uid ?? userName ?? dn)})`
    }`,
    signIn !== undefined && markup`<form method="post" action="${root}logout">
<input type="hidden" name="${FORM_TOKEN}" value="${signIn.formToken}">
<button class="plain">${says.signOut}</button></form>`,
  ];
}
