import { sameSecret } from "../model/secret.ts";
import { httpError, invalidRequest } from "../model/http_error.ts";
import type { SignIn } from "../authentication/sign_in/sign_ins.ts";
import type { Call } from "./call.ts";
import { readText } from "./request_body.ts";

/** Field that proves that a page was made for its sender. */
export const FORM_TOKEN = "token";

/** Header for the same proof from scripts. */
export const FORM_TOKEN_HEADER = "X-Form-Token";

const MAX_FIELDS = 50;

/** Fields by name, each with one value. */
export type Form = ReadonlyMap<string, string>;

/** Reads the form in the body (URL standard, 5.1). @throws {ERR_INVALID_REQUEST} If a field occurs twice. And as {@link readText}. */
export async function readForm({ request }: Pick<Call, "request">): Promise<Form> {
  return parseForm(await readText(request));
}

/** Parses the text of a form. @throws {ERR_INVALID_REQUEST} */
export function parseForm(text: string): Form {
  // Counted before parsing: unknown clients send forms, and thirty thousand empty fields cost milliseconds.
  if (text.split("&", MAX_FIELDS + 1).length > MAX_FIELDS) {
    throw invalidRequest(`Expected at most ${MAX_FIELDS} fields`);
  }
  const fields = new Map<string, string>();
  for (const [name, value] of new URLSearchParams(text)) {
    if (fields.has(name)) throw invalidRequest("A field of the form is there twice");
    fields.set(name, value);
  }
  return fields;
}

/** Reads a form and checks that its page was made for this sign-in. @throws {ERR_UNAUTHENTICATED | ERR_PAGE_OUTDATED} */
export async function readOwnForm(call: Call): Promise<Form> {
  const { formToken } = ownBrowser(call);
  const form = await readForm(call);
  checkShownToken(form.get(FORM_TOKEN), formToken);
  return form;
}

/** Returns the sign-in of the calling browser. @throws {ERR_PAGE_OUTDATED} */
export function ownBrowser({ signIn }: Call): SignIn {
  if (signIn === undefined) throw httpError("ERR_PAGE_OUTDATED", "no signed-in browser");
  return signIn;
}

/** @throws {ERR_PAGE_OUTDATED} */
export function checkShownToken(shown: string | null | undefined, expected: string): void {
  if (!sameSecret(shown ?? "", expected)) throw httpError("ERR_PAGE_OUTDATED", "another form token");
}
