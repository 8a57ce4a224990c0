import { InvalidResponse } from "./saml_names.ts";
import { trimCharacters } from "../../model/text.ts";
import { InvalidXml, XmlReader } from "../../model/xml_text.ts";

const MAX_LENGTH = 256 * 1024; // characters
const MAX_DEPTH = 64;
/** Elements, including one per group: verifying takes 50 to 100 µs each, in one blocking call. */
const MAX_ELEMENTS = 500;
const MAX_ATTRIBUTES = 32; // attributes and namespace declarations per element, which are compared pairwise
const MAX_ALL_ATTRIBUTES = 1_500; // attributes in all: OpenSAML writes up to three per group

/**
 * Checks size and form in linear time before a parser that takes quadratic time sees the text, and before the library
 * that signatures need, which accepts more than XML. @throws {InvalidResponse}
 */
export function checkMarkup(text: string): void {
  if (text.length > MAX_LENGTH) {
    throw new InvalidResponse(`the message is longer than ${MAX_LENGTH} characters`);
  }
  if (/<[!?]/.test(text.replace(/^\ufeff?<\?xml[ \t\r\n]/, ""))) {
    const what = "document type, comment, CDATA section or processing instruction";
    throw new InvalidResponse(`the message has a ${what}`);
  }
  let [elements, attributes] = [0, 0];
  const reader = new XmlReader(text, MAX_DEPTH);
  try {
    for (let event = reader.next(); event !== undefined; event = reader.next()) {
      if (event.kind !== "open") continue;
      attributes += event.attributes.size;
      atMost(++elements, MAX_ELEMENTS, "the message has", "elements");
      atMost(event.attributes.size, MAX_ATTRIBUTES, "an element has", "attributes");
      atMost(attributes, MAX_ALL_ATTRIBUTES, "the message has", "attributes");
    }
  } catch (error) {
    if (!(error instanceof InvalidXml)) throw error;
    throw new InvalidResponse(`the message is not XML: ${error.message}`);
  }
}

function atMost(found: number, most: number, who: string, what: string): void {
  if (found > most) throw new InvalidResponse(`${who} more than ${most} ${what}`);
}

/** Element of a document checked by {@link parseXml}. */
export class XmlElement {
  /** @param node For the signature library only. */
  constructor(readonly node: Element) {}

  get namespace(): string {
    return this.node.namespaceURI ?? "";
  }

  get name(): string {
    return this.node.localName;
  }

  is(namespace: string, name: string): boolean {
    return this.namespace === namespace && this.name === name;
  }

  attribute(name: string): string | undefined {
    return this.node.hasAttribute(name) ? this.node.getAttribute(name) ?? undefined : undefined;
  }

  requiredAttribute(name: string): string {
    const value = this.attribute(name);
    if (value === undefined || value === "") throw new InvalidResponse(`${this.name} has no ${name}`);
    return value;
  }

  get children(): readonly XmlElement[] {
    return Array.from(this.node.childNodes).filter(isElement).map((node) => new XmlElement(node));
  }

  all(namespace: string, name: string): readonly XmlElement[] {
    return this.children.filter((child) => child.is(namespace, name));
  }

  one(namespace: string, name: string): XmlElement {
    const [first, second] = this.all(namespace, name);
    if (first === undefined || second !== undefined) {
      throw new InvalidResponse(`${this.name} has ${first === undefined ? "no" : "more than one"} ${name}`);
    }
    return first;
  }

  *tree(): Iterable<XmlElement> {
    yield this;
    for (const child of this.children) yield* child.tree();
  }

  /** Trimmed text of a leaf element. @throws {InvalidResponse} */
  get text(): string {
    return trimCharacters(this.exactText, " \t\r\n");
  }

  /** Untrimmed text, since blanks distinguish names. @throws {InvalidResponse} */
  get exactText(): string {
    if (this.children.length > 0) throw new InvalidResponse(`${this.name} holds more than text`);
    return this.node.textContent ?? "";
  }
}

/** Parses XML strictly: no document type, comments, CDATA, processing instructions or repeated ids, on which parsers disagree. @throws {InvalidResponse} */
export async function parseXml(text: string): Promise<XmlElement> {
  checkMarkup(text);
  const { DOMParser } = await import("@xmldom/xmldom");
  const complain = (message: string) => {
    throw new InvalidResponse(`the message is not XML: ${message.split("\n")[0]}`);
  };
  const parser = new DOMParser({
    errorHandler: { warning: complain, error: complain, fatalError: complain },
  });
  let document: Document;
  try {
    document = parser.parseFromString(text, "text/xml");
  } catch (error) {
    if (error instanceof InvalidResponse) throw error;
    throw new InvalidResponse("the message is not XML", { cause: error });
  }
  return new XmlElement(checkDocument(document));
}

function checkDocument(document: Document): Element {
  const declaration = document.firstChild;
  const nodes = Array.from(document.childNodes);
  if (declaration?.nodeType === PROCESSING_INSTRUCTION && declaration.nodeName === "xml") nodes.shift();
  const roots = nodes.filter(isElement);
  const [root] = roots;
  if (root === undefined || roots.length > 1) {
    throw new InvalidResponse("the message has not one root element");
  }
  for (const node of nodes) {
    if (node !== root && !(node.nodeType === TEXT && /^\s*$/.test(node.nodeValue ?? ""))) {
      throw new InvalidResponse(`the message has a ${nodeKind(node)} outside of its root element`);
    }
  }
  checkElement(root, new Set());
  return root;
}

function checkElement(element: Element, ids: Set<string>): void {
  if (element.prefix && !element.namespaceURI) {
    throw new InvalidResponse(`the prefix ${element.prefix} is not bound`);
  }
  for (const { localName, value } of Array.from(element.attributes)) {
    if (localName?.toLowerCase() !== "id") continue;
    if (ids.has(value)) throw new InvalidResponse("an identifier occurs twice");
    ids.add(value);
  }
  for (const node of Array.from(element.childNodes)) {
    if (isElement(node)) checkElement(node, ids);
    else if (node.nodeType !== TEXT) throw new InvalidResponse(`the message has a ${nodeKind(node)}`);
  }
}

const [ELEMENT, TEXT, CDATA, PROCESSING_INSTRUCTION, COMMENT] = [1, 3, 4, 7, 8];

function isElement(node: Node): node is Element {
  return node.nodeType === ELEMENT;
}

function nodeKind({ nodeType }: Node): string {
  const kinds = new Map([
    [TEXT, "text"],
    [CDATA, "CDATA section"],
    [PROCESSING_INSTRUCTION, "processing instruction"],
    [COMMENT, "comment"],
  ]);
  return kinds.get(nodeType) ?? `node of type ${nodeType}`;
}
