import { sameSecret } from "../model/same_secret.ts";
import { refuse } from "../model/service_error.ts";
import type { Call } from "./call.ts";
import { invalidRequest } from "./invalid_request.ts";
import { readText } from "./request_body.ts";

/** Name of the field with which each form shows that it is of a page that was made for its sender. */
export const FORM_TOKEN = "token";

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
  const { signIn } = call;
  if (signIn === undefined) throw refuse("ERR_PAGE_OUTDATED", "no browser that is signed in");
  const form = await readForm(call);
  checkFormToken(form, signIn.formToken);
  return form;
}

/** @throws {ERR_PAGE_OUTDATED} */
export function checkFormToken(form: Form, expected: string): void {
  if (!sameSecret(form.get(FORM_TOKEN) ?? "", expected)) {
    throw refuse("ERR_PAGE_OUTDATED", "another form token");
  }
}
