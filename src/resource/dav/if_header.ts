import { invalidRequest } from "../../model/http_error.ts";

/** List of conditions of the header `If`; all must hold. */
export interface ConditionList {
  readonly resource?: string; // tagged address; absent: that of the request
  readonly conditions: readonly {
    readonly negated: boolean;
    readonly token?: string;
    readonly etag?: string;
  }[];
}

const MAX_CONDITIONS = 100;

/** Parts of the header: `<uri>`, `(`, `)`, `Not`, `[etag]`. */
const PART = /\s*(?:<([^<>\s]{1,512})>|([()])|(Not)\b|\[((?:W\/)?"[^"\]]{0,256}")\])/iy;

/** Parses the header `If` (RFC 4918, 10.4). @throws {ERR_INVALID_REQUEST} */
export function parseIf(header: string | null): readonly ConditionList[] {
  if (header === null) return [];
  const text = header.trim();
  const lists: ConditionList[] = [];
  let resource: string | undefined;
  let list: { negated: boolean; token?: string; etag?: string }[] | undefined;
  let negated = false;
  let total = 0;
  PART.lastIndex = 0;
  while (PART.lastIndex < text.length) {
    const [part, uri, bracket, not, etag] = PART.exec(text) ?? [];
    if (part === undefined) throw wrong();
    if (list === undefined) {
      if (uri !== undefined) resource = uri;
      else if (bracket === "(") list = [];
      else throw wrong();
    } else if (bracket === ")" && list.length > 0 && !negated) {
      lists.push({ resource, conditions: list });
      list = undefined;
    } else if (not !== undefined && !negated) negated = true;
    else if ((uri !== undefined || etag !== undefined) && ++total <= MAX_CONDITIONS) {
      list.push({ negated, token: uri, etag });
      negated = false;
    } else throw wrong();
  }
  if (list !== undefined || lists.length === 0) throw wrong();
  return lists;
}

function wrong(): Error {
  return invalidRequest("If: expected lists of lock tokens and entity tags in parentheses");
}

/** Returns all lock tokens that the header shows. */
export function shownTokens(lists: readonly ConditionList[]): ReadonlySet<string> {
  return new Set(lists.flatMap(({ conditions }) => conditions.flatMap(({ token }) => token ?? [])));
}

/** Reports whether one of the lists holds. @param stateOf Returns lock tokens and entity tag of an address. */
export async function ifHolds(
  lists: readonly ConditionList[],
  stateOf: (
    resource: string | undefined,
  ) => Promise<{ readonly tokens: readonly string[]; readonly etag: string | undefined }>,
): Promise<boolean> {
  for (const { resource, conditions } of lists) {
    const { tokens, etag } = await stateOf(resource);
    const holds = conditions.every((condition) => {
      const matches = condition.token === undefined
        ? condition.etag === etag
        : tokens.includes(condition.token);
      return matches !== condition.negated;
    });
    if (holds) return true;
  }
  return lists.length === 0;
}
