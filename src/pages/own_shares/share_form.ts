import { attempt } from "../../model/attempt.ts";
import { HttpError, invalidRequest } from "../../model/http_error.ts";
import type { Form } from "../../resource/form.ts";
import type { SharingParts } from "../../resource/share/sharing_parts.ts";
import { EVERYBODY, groupTarget, parseTarget, type Share } from "../../sharing/share.ts";
import { choiceField } from "../elements.ts";
import { type Content, markup } from "../markup.ts";
import { TEXTS } from "../texts.ts";

const SAYS = TEXTS.shares;

const DAY = 86_400;

const LIFETIMES = [1, 7, 30, 365, 0]; // days; 0 is unlimited
const USUAL_LIFETIME = 30;

interface Suggestions {
  readonly groups?: readonly string[] | undefined;
  readonly mail?: string | undefined; // address that can get mail
  readonly people?: readonly { readonly dn: string; readonly name: string }[] | undefined; // absent if nobody is suggested
}

const MAX_SUGGESTED = 500; // people in a page

/** Returns the form fields of a new share. */
export function shareFields(
  path: string,
  { allowWriteAccess, maxLifetimeSeconds }: Pick<SharingParts, "allowWriteAccess" | "maxLifetimeSeconds">,
  { groups = [], people, mail }: Suggestions = {},
): Content {
  const access = allowWriteAccess ? ["READ", "WRITE", "MODIFY", "DROP"] as const : ["READ"] as const;
  return markup`<p><label for="path">${SAYS.path}</label>
<input id="path" name="path" value="${path}" required maxlength="4000" spellcheck="false" autocapitalize="none"></p>
<p><label for="user">${SAYS.whom}</label>
<input id="user" name="user" list="people" autocomplete="off" maxlength="1000" spellcheck="false" autocapitalize="none" aria-describedby="user-help"></p>
<datalist id="people">${
    people?.slice(0, MAX_SUGGESTED).map(({ dn, name }) => markup`<option value="${dn}">${name}</option>`)
  }</datalist>
<p id="user-help" class="quiet">${people === undefined ? SAYS.whomHelp : SAYS.peopleHelp}</p>
<p><label for="group">${SAYS.group}</label>
<input id="group" name="group" list="groups" autocomplete="off" maxlength="200" spellcheck="false" autocapitalize="none" aria-describedby="group-help"></p>
<datalist id="groups">${groups.map((group) => markup`<option value="${group}"></option>`)}</datalist>
<p id="group-help" class="quiet">${SAYS.groupHelp}</p>
${choiceField("access", SAYS.access, access.map((level) => [level, SAYS.accessLevels[level]]))}
${lifetimeField(maxLifetimeSeconds)}
<p><label for="note">${SAYS.note}</label>
<input id="note" name="note" maxlength="500" autocomplete="off"></p>
<details><summary>${SAYS.more}</summary>
<p><label for="uses">${SAYS.uses}</label>
<input id="uses" name="uses" type="number" min="1" max="1000000" inputmode="numeric" aria-describedby="uses-help"></p>
<p id="uses-help" class="quiet">${SAYS.usesHelp}</p>
${
    allowWriteAccess && markup`<p><label for="files">${SAYS.maxFiles}</label>
<input id="files" name="files" type="number" min="1" max="1000000" inputmode="numeric" aria-describedby="drop-help"></p>
<p><label for="mebibytes">${SAYS.maxMebibytes}</label>
<input id="mebibytes" name="mebibytes" type="number" min="1" max="1000000000" inputmode="numeric" aria-describedby="drop-help"></p>
<p id="drop-help" class="quiet">${SAYS.dropHelp}</p>
${mail !== undefined && notifyField(mail, false)}`
  }
<p><label for="link-password">${SAYS.password}</label>
<input id="link-password" name="password" type="password" autocomplete="new-password" maxlength="200" aria-describedby="password-help"></p>
<p id="password-help" class="quiet">${SAYS.passwordHelp}</p>
</details>`;
}

function notifyField(mail: string, isOn: boolean): Content {
  const label = SAYS.notify.with({ address: mail });
  return markup`<p><label class="check"><input type="checkbox" name="notify"${
    isOn && markup` checked`
  }> ${label}</label></p>`;
}

/** Returns the form fields of a change. @param mail Address that can get mail. */
export function changeFields(
  { note = "", password, mail: present }: Pick<Share, "note" | "password" | "mail">,
  maxLifetimeSeconds: number,
  mail = present,
): Content {
  return markup`${lifetimeField(maxLifetimeSeconds, SAYS.keepLifetime)}
<p><label for="note">${SAYS.note}</label>
<input id="note" name="note" maxlength="500" autocomplete="off" value="${note}"></p>
<p><label for="link-password">${password === undefined ? SAYS.password : SAYS.newPassword}</label>
<input id="link-password" name="password" type="password" autocomplete="new-password" maxlength="200" aria-describedby="password-help"></p>
<p id="password-help" class="quiet">${password === undefined ? SAYS.passwordHelp : SAYS.newPasswordHelp}</p>
${
    password !== undefined &&
    markup`<p><label class="check"><input type="checkbox" name="open"> ${SAYS.noPassword}</label></p>`
  }
${
    mail !== undefined &&
    markup`<input type="hidden" name="asked" value="notify">${notifyField(mail, present !== undefined)}`
  }`;
}

/** Converts a form to the body of `PUT /rest/share/<server>/<id>`. @throws {ERR_INVALID_REQUEST} */
export function shareChange(form: Form): Readonly<Record<string, unknown>> {
  return {
    lifetime: form.get("days") ? lifetimeIn(form) : undefined,
    note: form.get("note"),
    password: form.has("open") ? "" : form.get("password") || undefined,
    notify: form.has("asked") ? form.has("notify") : undefined,
  };
}

/** @param kept Label for "no change", where offered. */
function lifetimeField(maxLifetimeSeconds: number, kept?: Content): Content {
  const fits = (days: number) => maxLifetimeSeconds === 0 || (days > 0 && days * DAY <= maxLifetimeSeconds);
  const offered = LIFETIMES.filter(fits);
  const chosen = offered.includes(USUAL_LIFETIME) ? USUAL_LIFETIME : offered.at(-1);
  const days = offered.length > 0 ? offered : [maxLifetimeSeconds / DAY];
  return markup`<p><label for="days">${SAYS.lifetime}</label>
<select id="days" name="days">${kept !== undefined && markup`<option value="" selected>${kept}</option>`}${
    days.map((count) =>
      markup`<option value="${count}"${count === chosen && kept === undefined && markup` selected`}>${
        SAYS.days.with({ count })
      }</option>`
    )
  }</select></p>`;
}

/** Converts a form to the body of `POST /rest/share/<server>`. @throws {ERR_INVALID_REQUEST} */
export function shareRequest(form: Form): Readonly<Record<string, unknown>> {
  const given = (name: string) => form.get(name) || undefined;
  const mebibytes = given("mebibytes");
  if (mebibytes !== undefined && !/^\d{1,9}$/.test(mebibytes)) {
    throw invalidRequest("The maximum size of all uploads must be a whole number of MiB");
  }
  return {
    path: form.get("path"),
    user: whomOf(form),
    access: form.get("access"),
    lifetime: lifetimeIn(form),
    maxUses: given("uses"),
    maxFiles: given("files"),
    maxBytes: mebibytes === undefined ? undefined : Number(mebibytes) * 1024 * 1024,
    password: given("password"),
    note: given("note"),
    notify: form.has("notify"),
  };
}

/** Returns the target: a person, a group, or by default everybody. @throws {ERR_INVALID_REQUEST} If both are named. */
function whomOf(form: Form): string {
  const [user, group] = [form.get("user")?.trim() || undefined, form.get("group")?.trim() || undefined];
  if (user !== undefined && group !== undefined) {
    throw invalidRequest("Choose a recipient or a recipient group, not both");
  }
  const target = user ?? (group === undefined ? EVERYBODY : groupTarget(group));
  return attempt(() => parseTarget(target) && target, HttpError, () => {
    if (group !== undefined) throw invalidRequest("The recipient group must be an unprivileged Unix group");
    throw invalidRequest("The recipient must be a distinguished name, such as CN=Jane Doe,O=Example");
  });
}

/** Seconds; 0 is unlimited. @throws {ERR_INVALID_REQUEST} */
function lifetimeIn(form: Form): number {
  const days = form.get("days") ?? "";
  if (!/^\d{1,5}(?:\.\d{1,6})?$/.test(days)) throw invalidRequest("days: expected a number of days");
  return Math.floor(Number(days) * DAY);
}
