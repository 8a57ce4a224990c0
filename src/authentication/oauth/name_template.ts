import { escapeNameValue } from "../../model/distinguished_name.ts";
import type { Variable, Variables } from "../expression/value.ts";

/** Fills the deprecated `dnTemplate`: `%name` is an escaped member; `undefined` if there is none. */
export function fillNameTemplate(template: string, variables: Variables): string | undefined {
  const texts = [...variables].flatMap(([name, variable]) => {
    const text = firstText(variable);
    return text === undefined || name === "" ? [] : [{ name, text }];
  }).sort((a, b) => b.name.length - a.name.length);
  let replaced = false;
  const [start = "", ...others] = template.split("%");
  const filled = others.map((part) => {
    const found = texts.find(({ name }) => part.startsWith(name));
    if (found === undefined) return `%${part}`;
    replaced = true;
    return escapeNameValue(found.text) + part.slice(found.name.length);
  });
  return replaced ? start + filled.join("") : undefined;
}

function firstText(variable: Variable): string | undefined {
  if (typeof variable === "string") return variable;
  const [first]: Iterable<unknown> = variable;
  return typeof first === "string" ? first : undefined;
}
