import type { OutgoingRequest } from "../../outgoing/outgoing_http.ts";
import { InvalidXml, XmlReader } from "../../model/xml_text.ts";

/** User's record; lists joined with `:`; empty for unknown users. */
export interface XuudbRecord {
  readonly xlogin?: string;
  readonly role?: string;
  readonly projects?: string;
}

/** Protocol of an XUUDB (authentication.md 7.6). */
export interface WireForm {
  /** @param address Such as `https://xuudb.example:34463`. */
  request(address: string, gcid: string, dn: string): OutgoingRequest;
  read(body: string): XuudbRecord;
}

/** Error for a malformed response. */
export class InvalidAnswer extends Error {}

/** Collects the present texts. */
function recordOf(text: (name: keyof XuudbRecord) => string | undefined): XuudbRecord {
  const [xlogin, role, projects] = [text("xlogin"), text("role"), text("projects")];
  return {
    xlogin,
    role,
    projects,
  };
}

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

/** SOAP 1.1, document/literal: `CheckDN`; its `CheckDNResponse` is empty for unknown users. */
export const SOAP_FORM: WireForm = {
  request: (address, gcid, dn) => ({
    method: "POST",
    url: `${address}/XUUDBQuery`,
    headers: { "Content-Type": "text/xml; charset=UTF-8", SOAPAction: '""' },
    body: '<?xml version="1.0" encoding="UTF-8"?>' +
      '<soap:Envelope xmlns:soap="http://schemas.xmlsoap.org/soap/envelope/"><soap:Body>' +
      '<x:CheckDN xmlns:x="http://www.fz-juelich.de/unicore/xuudb">' +
      `<x:gcID>${escapeText(gcid)}</x:gcID><x:DistinguishedName>${escapeText(dn)}</x:DistinguishedName>` +
      "</x:CheckDN></soap:Body></soap:Envelope>",
  }),
  read: (body) => {
    const members = readResponse(body);
    return recordOf((name) => members.get(name));
  },
};

const RESPONSE = "Envelope/Body/CheckDNResponse";

function readResponse(body: string): ReadonlyMap<string, string> {
  const members = new Map<string, string>();
  const path: string[] = [];
  let found = false;
  try {
    const reader = new XmlReader(body);
    for (let event = reader.next(); event !== undefined; event = reader.next()) {
      if (event.kind === "open") path.push(event.name);
      found ||= path.join("/") === RESPONSE;
      const name = path.at(-1) ?? "";
      if (event.kind === "close") path.pop();
      else if (path.slice(0, -1).join("/") === RESPONSE) {
        members.set(name, (members.get(name) ?? "") + (event.kind === "text" ? event.text : ""));
      }
    }
  } catch (error) {
    if (error instanceof InvalidXml) throw new InvalidAnswer("the answer is not XML", { cause: error });
    throw error;
  }
  if (!found) throw new InvalidAnswer("the answer is no CheckDNResponse");
  return members;
}

function escapeText(text: string): string {
  return text.replace(/[<>&\r]/g, (character) => `&#${character.charCodeAt(0)};`);
}
