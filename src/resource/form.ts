import { sameSecret } from "../model/same_secret.ts";
import { httpError } from "../model/http_error.ts";
import type { SignIn } from "../authentication/sign_in/sign_ins.ts";
import type { Call } from "./call.ts";
import { invalidRequest } from "./invalid_request.ts";
import { readText } from "./request_body.ts";

/** Name of the field with which each form shows that it is of a page that was made for its sender. */
export const FORM_TOKEN = "token";

/** Header in which scripts of such pages show the same. */
export const FORM_TOKEN_HEADER = "X-Form-Token";

/** Most fields of a form. */
const MOST_FIELDS = 50;

/** Fields of a form by name, each with its one value. */
export type Form = ReadonlyMap<string, string>;

/**
 * The form that a page has sent (URL standard, 5.1). It is asked for here, and not before.
 * @throws {ERR_INVALID_REQUEST} For a field that is there twice. What `readText()` throws.
 */
export async function readForm({ request }: Pick<Call, "request">): Promise<Form> {
  return parseForm(await readText(request));
}

/** @throws {ERR_INVALID_REQUEST} */
export function parseForm(text: string): Form {
  // Before they are made: strangers send forms, and thirty thousand empty fields cost milliseconds.
  if (text.split("&", MOST_FIELDS + 1).length > MOST_FIELDS) {
    throw invalidRequest(`Expected at most ${MOST_FIELDS} fields`);
  }
  const fields = new Map<string, string>();
  for (const [name, value] of new URLSearchParams(text)) {
    if (fields.has(name)) throw invalidRequest("A field of the form is there twice");
    fields.set(name, value);
  }
  return fields;
}

/**
 * The form of a page that was made for this very browser, signed in as it is now.
 * @throws {ERR_UNAUTHENTICATED} If nobody is signed in. @throws {ERR_PAGE_OUTDATED}
 */
export async function readOwnForm(call: Call): Promise<Form> {
  const { formToken } = ownBrowser(call);
  const form = await readForm(call);
  checkFormToken(form, formToken);
  return form;
}

/** The browser of a caller who is known by having signed in with it. @throws {ERR_PAGE_OUTDATED} If the caller is not. */
export function ownBrowser({ signIn }: Call): SignIn {
  if (signIn === undefined) throw httpError("ERR_PAGE_OUTDATED", "no browser that is signed in");
  return signIn;
}

/** @throws {ERR_PAGE_OUTDATED} */
export function checkFormToken(form: Form, expected: string): void {
  checkShownToken(form.get(FORM_TOKEN) ?? null, expected);
}

/** @param shown As it came, if any did. @throws {ERR_PAGE_OUTDATED} */
export function checkShownToken(shown: string | null, expected: string): void {
  if (!sameSecret(shown ?? "", expected)) throw httpError("ERR_PAGE_OUTDATED", "another form token");
}
