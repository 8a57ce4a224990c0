import { InvalidAnswer, recordOf, type WireForm } from "./wire_form.ts";

/** REST interface: an object of texts, empty for unknown users. */
export const JSON_FORM: WireForm = {
  request: (address, gcid, dn) => ({
    method: "GET",
    url: `${address}/rest/xuudb/query/${encodeURIComponent(gcid)}?dn=${encodeURIComponent(dn)}`,
    headers: { Accept: "application/json" },
  }),
  read: (body) => {
    const members = new Map(Object.entries(parseObject(body)));
    return recordOf((name) => {
      const value: unknown = members.get(name) ?? undefined;
      if (value !== undefined && typeof value !== "string") throw new InvalidAnswer(`${name} is no text`);
      return value;
    });
  },
};

function parseObject(body: string): object {
  let value: unknown;
  try {
    value = JSON.parse(body);
  } catch (cause) {
    throw new InvalidAnswer("the answer is not JSON", { cause });
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new InvalidAnswer("the answer is no object");
  }
  return value;
}
