import { attempt } from "../../model/attempt.ts";
import type { HttpRequest } from "../../model/http_message.ts";
import { InvalidXml, type XmlEvent, XmlReader } from "../../model/xml_text.ts";
import { invalidRequest } from "../../model/http_error.ts";
import { readText } from "../request_body.ts";

/** Name of a property, in the namespace `DAV:` or another. */
export interface PropertyName {
  readonly namespace: string;
  readonly name: string;
}

/** Element of a request body; text of its own is only kept for elements without children. */
export interface DavElement extends PropertyName {
  readonly children: readonly DavElement[];
  readonly text: string;
}

const MAX_ELEMENTS = 200;

/** Reads the body as an XML document; undefined without one. @throws {ERR_INVALID_REQUEST | ERR_BODY_TOO_LARGE} */
export async function readDavBody(
  request: Pick<HttpRequest, "headers" | "body">,
): Promise<DavElement | undefined> {
  const text = await readText(request);
  if (text === "") return undefined;
  return attempt(() => parseDav(text), InvalidXml, ({ message }) => {
    throw invalidRequest(`The request body is not well-formed, ${message}`);
  });
}

interface Open extends PropertyName {
  readonly namespaces: ReadonlyMap<string, string>; // by prefix; "" is the default
  readonly children: DavElement[];
  text: string;
}

/** @throws {InvalidXml | ERR_INVALID_REQUEST} */
function parseDav(text: string): DavElement {
  const reader = new XmlReader(text);
  const top: Open = { namespace: "", name: "", namespaces: new Map([["", ""]]), children: [], text: "" };
  const open = [top];
  let elements = 0;
  for (let event = reader.next(); event !== undefined; event = reader.next()) {
    const inner = open.at(-1) ?? top;
    if (event.kind === "text") inner.text += event.text;
    else if (event.kind === "close") {
      const { namespace, name, children, text } = inner;
      open.pop();
      open.at(-1)?.children.push({ namespace, name, children, text: text.trim() });
    } else {
      if (++elements > MAX_ELEMENTS) throw invalidRequest(`Expected at most ${MAX_ELEMENTS} elements`);
      open.push(opened(event, text, inner.namespaces));
    }
  }
  const [root] = top.children;
  if (root === undefined) throw invalidRequest("The request body has no element");
  return root;
}

function opened(
  { start, name, attributes }: Extract<XmlEvent, { kind: "open" }>,
  text: string,
  inherited: ReadonlyMap<string, string>,
): Open {
  const declared = [...attributes].flatMap(([attribute, value]): [string, string][] =>
    attribute === "xmlns"
      ? [["", value]]
      : attribute.startsWith("xmlns:")
      ? [[attribute.slice(6), value]]
      : []
  );
  if (declared.some(([prefix, value]) => prefix !== "" && value === "")) {
    throw invalidRequest("A namespace prefix is bound to an empty name");
  }
  const namespaces = declared.length === 0 ? inherited : new Map([...inherited, ...declared]);
  const prefix = text.startsWith(name, start + 1) ? "" : text.slice(start + 1, text.indexOf(":", start));
  const namespace = prefix === "xml" ? "http://www.w3.org/XML/1998/namespace" : namespaces.get(prefix);
  if (namespace === undefined || name.includes(":")) {
    throw invalidRequest("An element has an undeclared namespace prefix");
  }
  return { namespace, name, namespaces, children: [], text: "" };
}

/** Reports whether an element has a name in the namespace `DAV:`. */
export function isDav({ namespace, name }: PropertyName, wanted: string): boolean {
  return namespace === "DAV:" && name === wanted;
}

/** Returns the first child with a name in the namespace `DAV:`. */
export function childOf(element: DavElement | undefined, name: string): DavElement | undefined {
  return element?.children.find((child) => isDav(child, name));
}

const ENTITIES = new Map([["<", "&lt;"], [">", "&gt;"], ["&", "&amp;"], ['"', "&quot;"]]);

/** Escapes text for XML, by names: not all clients know numbers. Removes characters that XML cannot contain. */
export function escaped(text: string): string {
  return text.replace(/[\ufffe\uffff]/g, "").replace(/[<>&"]/g, (sign) => ENTITIES.get(sign) ?? "");
}
