/** Reports whether a whole text matches a shell pattern, as in Python's `fnmatch`: `*` crosses `/`. */
export function matchesPattern(text: string, pattern: string): boolean {
  return new RegExp(`^(?:${translate([...pattern])})$`, "su").test(text);
}

function translate(pattern: readonly string[]): string {
  let expression = "";
  for (let at = 0; at < pattern.length; at++) {
    const character = pattern[at] ?? "";
    const end = character === "[" ? classEnd(pattern, at + 1) : -1;
    if (character === "*") expression += ".*";
    else if (character === "?") expression += ".";
    else if (end < 0) expression += literal(character);
    else {
      expression += characterClass(pattern.slice(at + 1, end));
      at = end;
    }
  }
  return expression;
}

/**
 * Returns the index of the `]` that closes a class, or -1. A `]` right at the start is an ordinary member.
 */
function classEnd(pattern: readonly string[], start: number): number {
  const first = pattern[start] === "!" ? start + 1 : start;
  return pattern.indexOf("]", pattern[first] === "]" ? first + 1 : first);
}

function characterClass(members: readonly string[]): string {
  const negated = members[0] === "!";
  let expression = "";
  const list = negated ? members.slice(1) : members;
  for (let at = 0; at < list.length; at++) {
    const [from = "", dash, to] = list.slice(at, at + 3);
    if (dash !== "-" || to === undefined) expression += literal(from);
    else {
      // A reversed range is empty.
      if ((from.codePointAt(0) ?? 0) <= (to.codePointAt(0) ?? 0)) {
        expression += `${literal(from)}-${literal(to)}`;
      }
      at += 2;
    }
  }
  return `[${negated ? "^" : ""}${expression}]`;
}

const literal = (character: string): string => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
