import type { Variable, Variables } from "./expression/value.ts";

/** Looks up a claim. */
export type Said = (name: string) => Variable | undefined;

/** Returns a claim by name or dotted path, such as `realm_access.roles`; a literal name such as `wlcg.groups` wins. */
export function claimAt(variables: Variables, path: string): Variable | undefined {
  const whole = variables.get(path);
  if (whole !== undefined) return whole;
  for (let dot = path.indexOf("."); dot >= 0; dot = path.indexOf(".", dot + 1)) {
    const inner = variables.get(path.slice(0, dot));
    const found = isVariables(inner) ? claimAt(inner, path.slice(dot + 1)) : undefined;
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Returns a claim's texts: a single one or a list. */
export function textsOf(variable: Variable | undefined): readonly string[] {
  if (typeof variable === "string") return [variable];
  if (variable === undefined || isVariables(variable)) return [];
  const items: string[] = [];
  for (const item of variable) if (typeof item === "string") items.push(item);
  return items;
}

function isVariables(variable: Variable | undefined): variable is Variables {
  return variable instanceof Map;
}
