import type { PartialCall } from "../resource/call.ts";
import { FORM_TOKEN } from "../resource/form.ts";
import { type Content, isolated, type Markup, markup } from "./markup.ts";

/** Returns a section with its heading. @param id Of the heading. */
export function section(id: string, title: Content, content: Content): Markup {
  return markup`<section aria-labelledby="${id}"><header><h2 id="${id}">${title}</h2></header>
${content}
</section>
`;
}

/** Returns a form that posts the browser's form token. @param style Class; by default fields stand below each other. */
export function tokenForm(action: string, formToken: string, content: Content, style = "fields"): Markup {
  return markup`<form class="${style}" method="post" action="${action}">
<input type="hidden" name="${FORM_TOKEN}" value="${formToken}">
${content}
</form>
`;
}

/** Returns a form of the signed-in browser; nothing without a sign-in. @param path Below the root. @param style See {@link tokenForm}. */
export function ownForm(
  { root, signIn }: Pick<PartialCall, "root" | "signIn">,
  path: string,
  content: Content,
  style?: string,
): Content {
  return signIn !== undefined && tokenForm(root + path, signIn.formToken, content, style);
}

/** Returns a list of terms; omits those without value. */
export function factList(rows: readonly (readonly [term: Content, value: Content])[]): Markup {
  const given = rows.filter(([, value]) => value !== undefined && value !== false && value !== "");
  return markup`<dl>${given.map(([term, value]) => markup`<dt>${term}</dt><dd>${value}</dd>\n`)}</dl>`;
}

/** Returns a labelled choice. @param options Values with their texts. */
export function choiceField(
  name: string,
  label: Content,
  options: readonly (readonly [value: string | number, text: Content])[],
): Markup {
  const choices = options.map(([value, text]) => markup`<option value="${value}">${text}</option>`);
  return markup`<p><label for="${name}">${label}</label>
<select id="${name}" name="${name}">${choices}</select></p>`;
}

/** Returns the owner's note, if there is one. */
export function noteOf(note: string | undefined): Content {
  return note !== undefined && markup`<p class="note">${isolated(note)}</p>`;
}

/** Returns a table, which scrolls in a narrow window. */
export function table(
  caption: Content,
  titles: readonly Content[],
  rows: readonly (readonly Content[])[],
): Markup {
  return markup`<div class="wide" tabindex="0" role="group" aria-label="${caption}"><table><caption>${caption}</caption>
<thead><tr>${
    titles.map((title) => title === "" ? markup`<td></td>` : markup`<th scope="col">${title}</th>`)
  }</tr></thead>
<tbody>${
    rows.map((row) =>
      markup`<tr>${row.map((cell) => markup`<td>${cell}</td>`)}</tr>
`
    )
  }</tbody>
</table></div>`;
}
