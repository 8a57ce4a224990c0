/** Long texts that cost careless parsers most, by format. */
import { Buffer } from "node:buffer";
import type { Growth } from "./growth.ts";

type Forms = NonNullable<Growth<unknown>["forms"]>;

export const KIB = 1024;
/** Characters of a file or an answer: more may arrive, but would show nothing new. */
export const FILE = 64 * KIB;

/** Returns the text, for parsers of texts. */
export const asItIs = (text: string): string => text;
/** Returns one byte for each character, for parsers of bytes. */
export const latin1 = (text: string): Buffer => Buffer.from(text, "latin1");

/** Returns a function that makes many different parts, between a beginning and an end. */
export function distinct(part: (n: number) => string, begin = "", end = ""): (length: number) => string {
  return (length) => {
    const parts: string[] = [];
    for (let [n, size] = [0, 0]; size < length; n++) size += parts[parts.push(part(n)) - 1]?.length ?? 0;
    return begin + parts.join("") + end;
  };
}

/** Returns a function that nests an element in itself. */
export function nested(open: string, close: string, inside = ""): (length: number) => string {
  return (length) => {
    const depth = length / (open.length + close.length);
    return open.repeat(depth) + inside + close.repeat(depth);
  };
}

export const JSON_FORMS: Forms = [
  "…",
  '{"a":…}',
  '{"a":[…]}',
  '{"a":{"b":["…"]}}',
  '{"a":"…"}',
  '{"…":1}',
  '{"a":{"b":"…"}}',
  '{"a":1…}',
  '{"xlogin":"…","role":"…"}',
  nested('{"a":', "}", "1"),
  nested("[", "]"),
  distinct((n) => `"k${n}":{},`, "{", '"a":1}'),
  distinct((n) => `"k${n}":"v",`, '{"a":{', '"a":1}}'),
  distinct((n) => `"${n}",`, '{"a":["', '"]}'),
];

export const XML_FORMS: Forms = [
  "…",
  "<?xml …?><a/>",
  "<a>…</a>",
  "<a …/>",
  '<a b="…"/>',
  "<a></a …>",
  "<fileAttributeSource>…</fileAttributeSource>",
  '<fileAttributeSource><entry key="…"/></fileAttributeSource>',
  "<fileAttributeSource><entry><key>…</key></entry></fileAttributeSource>",
  nested("<a>", "</a>"),
  distinct((n) => `<entry key="CN=${n}"/>`, "<fileAttributeSource>", "</fileAttributeSource>"),
  distinct((n) => ` a${n}="b"`, "<a", "/>"),
];

/** XML with namespaces, and texts in the places where a SAML message has its parts. */
export const SAML_FORMS: Forms = [
  "…",
  "<a>…</a>",
  "<a …/>",
  "<a b='…'/>",
  `<s:Envelope xmlns:s="http://schemas.xmlsoap.org/soap/envelope/"><s:Body>…</s:Body></s:Envelope>`,
  `<s:Envelope xmlns:s="http://schemas.xmlsoap.org/soap/envelope/" a="…"/>`,
  nested("<a>", "</a>"),
  nested("<a xmlns='b'>", "</a>"),
  distinct((n) => ` a${n}="b"`, "<a", "/>"),
  distinct((n) => ` xmlns:a${n}="b"`, "<a", "/>"),
  distinct((n) => `<a${n} ID="i${n}"/>`, "<a>", "</a>"),
  distinct((n) => `<b xmlns:c${n}="d${n}"/>`, "<a>", "</a>"),
  distinct((n) => `\n<b>${n}</b>`, "<a>", "</a>"),
];

export const NAME_FORMS: Forms = [
  "…",
  "CN=…",
  'CN="…"',
  "CN=…x",
  "CN=#…",
  "CN=\\…",
  "CN=a+…",
  distinct((n) => `+CN=${n}`, "CN=a"),
  distinct((n) => `,CN=${n}`, "CN=a"),
  distinct((n) => `\\${(0xc3 + (n % 2) * -0x1a).toString(16)}`, "CN="),
];

/** Returns a DER element with its length, as Latin-1 text. */
function element(tag: number, content: string): string {
  const size = content.length;
  const length = size < 0x80
    ? String.fromCharCode(size)
    : String.fromCharCode(0x83, size >> 16, (size >> 8) & 0xff, size & 0xff);
  return String.fromCharCode(tag) + length + content;
}

/** Returns a function that nests DER elements, from the inside, so that it joins the heads once. */
function nestedElements(tag: number) {
  return (length: number): string => {
    const heads: string[] = [];
    let size = 0;
    while (size < length - 5) {
      const head = element(tag, "x".repeat(Math.min(size, 0x7f))).slice(0, 2);
      const long = String.fromCharCode(tag, 0x83, size >> 16, (size >> 8) & 0xff, size & 0xff);
      size += heads[heads.push(size < 0x80 ? head : long) - 1]?.length ?? 0;
    }
    return heads.reverse().join("");
  };
}

const within = (tag: number, shape: (length: number) => string) => (length: number) =>
  element(tag, shape(Math.max(0, length - 5)));

export const DER_FORMS: Forms = [
  "…",
  ...[0x30, 0x24, 0xa0].map(nestedElements),
  ...[0x30, 0x24, 0x31].map((tag) => within(tag, (length) => element(0x04, "").repeat(length / 2))),
  ...[0x06, 0x02, 0x04].map((tag) => within(tag, (length) => "\x81".repeat(length))),
  within(0x06, (length) => "\x01".repeat(length)),
  within(0x30, within(0x06, (length) => "\x81".repeat(length))),
];
