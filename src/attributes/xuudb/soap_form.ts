import { InvalidXml, XmlReader } from "../../model/xml_text.ts";
import { InvalidAnswer, recordOf, type WireForm } from "./wire_form.ts";

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
