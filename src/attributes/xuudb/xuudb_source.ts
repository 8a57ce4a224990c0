import { isJsonObject } from "../../model/json_object.ts";
import { attempt } from "../../model/attempt.ts";
import type { OutgoingHttp, OutgoingRequest, OutgoingResponse } from "../../outgoing/outgoing.ts";
import { InvalidXml, XmlReader } from "../../model/xml_text.ts";
import { type AttributeSet, attributeSet } from "../../model/attributes.ts";
import { confusable } from "../../model/confusables.ts";
import type { Identity } from "../../model/identity.ts";
import { httpError } from "../../model/http_error.ts";
import { RemoteHttp } from "../../outgoing/remote_http.ts";
import type { RemoteStatus, RemoteSystemOptions } from "../../outgoing/remote_system.ts";
import { RemoteUnavailable } from "../../outgoing/remote_unavailable.ts";
import type { AttributeSource } from "../attribute_source.ts";
import { AnswerCache } from "../../model/answer_cache.ts";

/** Members of a user's record, lists joined with `:`, by standard attribute; unknown users have none. */
const MEMBERS = new Map([["xlogin", "xlogin"], ["role", "role"], ["projects", "group"]] as const);
type XuudbRecord = ReadonlyMap<string, string>;

/** Protocol of an XUUDB (credentials.md 7.6). */
interface WireForm {
  /** @param address Such as `https://xuudb.example:34463`. */
  request(address: string, gcid: string, dn: string): OutgoingRequest;
  read(body: string): XuudbRecord;
}

/** Error for a malformed response. */
export class InvalidAnswer extends Error {}

/** REST interface: an object of texts, empty for unknown users. */
export const JSON_FORM: WireForm = {
  request: (address, gcid, dn) => ({
    method: "GET",
    url: `${address}/rest/xuudb/query/${encodeURIComponent(gcid)}?dn=${encodeURIComponent(dn)}`,
    headers: { Accept: "application/json" },
  }),
  read: (body) => {
    const members = new Map<string, unknown>(Object.entries(parseObject(body)));
    return new Map([...MEMBERS.keys()].flatMap((name): [string, string][] => {
      const value = members.get(name) ?? undefined;
      if (value === undefined) return [];
      if (typeof value !== "string") throw new InvalidAnswer(`${name} is no text`);
      return [[name, value]];
    }));
  },
};

function parseObject(body: string): object {
  const value: unknown = attempt(() => JSON.parse(body), SyntaxError, (cause) => {
    throw new InvalidAnswer("the answer is not JSON", { cause });
  });
  if (!isJsonObject(value)) throw new InvalidAnswer("the answer is no object");
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
  read: readResponse,
};

const RESPONSE = "Envelope/Body/CheckDNResponse";

function readResponse(body: string): XuudbRecord {
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

interface XuudbOptions extends Pick<RemoteSystemOptions, "clock" | "elapsed" | "log"> {
  readonly name: string;
  readonly form: "soap" | "json";
  readonly address: string; // `https://host:port`, without path
  readonly gcid: string; // site's name in the XUUDB
  readonly cache: boolean; // whether to cache results for ten seconds
  readonly http: OutgoingHttp;
}

const LIFETIME_MS = 10_000;
const CACHE_SIZE = 100;

/** User database of a UNICORE site (credentials.md 7.6); unknown users have no attributes. */
export class XuudbSource implements AttributeSource {
  readonly name: string;
  readonly #form: WireForm;
  readonly #cache: AnswerCache<AttributeSet>;
  readonly #remote: RemoteHttp;

  constructor(readonly options: XuudbOptions) {
    this.name = options.name;
    this.#form = options.form === "soap" ? SOAP_FORM : JSON_FORM;
    const { address, http, clock, elapsed, log } = options;
    const own = log.child({ source: options.name });
    this.#remote = new RemoteHttp({ address, http, clock, elapsed, log: own });
    this.#cache = new AnswerCache({ clock, elapsed, capacity: CACHE_SIZE });
  }

  attributesOf({ dn }: Identity, signal: AbortSignal): Promise<AttributeSet> {
    // Shared: one caller's abort must not cancel the others.
    const lifetimeMs = this.options.cache ? LIFETIME_MS : 0;
    return this.#cache.get([dn], async (signal) => {
      return { value: await this.#ask(dn, signal), good: true, lifetimeMs };
    }, signal);
  }

  status(address = this.options.address): RemoteStatus | undefined {
    return address === this.options.address ? this.#remote.status() : undefined;
  }

  close(): void {
    this.#cache.close();
  }

  async #ask(dn: string, signal: AbortSignal): Promise<AttributeSet> {
    const { address, gcid } = this.options;
    // The user is authenticated; their address does not matter.
    const caller = { queueKey: dn, known: true, credential: dn, address: dn, signal };
    const request = this.#form.request(address, gcid, dn);
    const asked = this.#remote.ask(request, caller, (answer) => this.#read(answer));
    const record = await asked.catch((error) => {
      const reason = error instanceof RemoteUnavailable && error.connected
        ? error.reason
        : "the XUUDB cannot be reached";
      throw httpError("ERR_ATTRIBUTE_SOURCE", `Attribute source ${this.name}: ${reason}`, error);
    });
    return attributesOfRecord(this.name, record);
  }

  #read({ status, body }: OutgoingResponse): XuudbRecord {
    if (status !== 200) throw this.#remote.unusable(`the XUUDB answered with status ${status}`);
    return attempt(() => this.#form.read(body), InvalidAnswer, (error) => {
      throw this.#remote.unusable("not understood", error);
    });
  }
}

function attributesOfRecord(source: string, record: XuudbRecord): AttributeSet {
  const attributes = [...MEMBERS].map(([member, name]) => {
    const values = (record.get(member) ?? "").split(":").filter((value) => !/^ *$/.test(value));
    // Not trimmed: that could change an account or void a ban.
    const reason = values.map(confusable).find((reason) => reason !== undefined);
    if (reason !== undefined) {
      throw httpError("ERR_USER_ATTRIBUTE", `Attribute source ${source}: ${name} has ${reason}`);
    }
    return [name, values] as const;
  });
  return attributeSet(Object.fromEntries(attributes));
}
