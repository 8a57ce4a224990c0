import {
  type AttributeSet,
  type AttributeValues,
  attributeValues,
  type StandardAttribute,
} from "../../model/attributes.ts";
import { confusable } from "../../model/confusables.ts";
import type { Clock, Stopwatch } from "../../model/clock.ts";
import type { Identity } from "../../model/identity.ts";
import type { Logger } from "../../logging/logger.ts";
import { httpError } from "../../model/http_error.ts";
import type { OutgoingHttp, OutgoingResponse } from "../../outgoing/outgoing_http.ts";
import { RemoteHttp } from "../../outgoing/remote_http.ts";
import type { RemoteStatus } from "../../outgoing/remote_system.ts";
import { RemoteUnavailable } from "../../outgoing/remote_unavailable.ts";
import type { AttributeSource } from "../attribute_source.ts";
import { AnswerCache } from "../../model/single_flight.ts";
import { InvalidAnswer, JSON_FORM, SOAP_FORM, type WireForm, type XuudbRecord } from "./wire_form.ts";

/** Options of {@link XuudbSource}. */
export interface XuudbOptions {
  readonly name: string;
  readonly form: "soap" | "json";
  readonly address: string; // `https://host:port`, without path
  readonly gcid: string; // site's name in the XUUDB
  readonly cache: boolean; // whether to cache results for ten seconds
  readonly http: OutgoingHttp;
  readonly log: Logger;
  readonly clock: Clock;
  readonly elapsed?: Stopwatch;
}

const LIFETIME_MS = 10_000;
const CACHE_SIZE = 100;

/** User database of a UNICORE site (authentication.md 7.6); unknown users have no attributes. */
export class XuudbSource implements AttributeSource {
  readonly name: string;
  readonly #options: XuudbOptions;
  readonly #form: WireForm;
  readonly #cache: AnswerCache<AttributeSet>;
  readonly #remote: RemoteHttp;
  readonly #closed = new AbortController();

  constructor(options: XuudbOptions) {
    this.name = options.name;
    this.#options = options;
    this.#form = options.form === "soap" ? SOAP_FORM : JSON_FORM;
    const { address, http, clock, elapsed, log } = options;
    this.#remote = new RemoteHttp({
      address,
      http,
      clock,
      elapsed,
      log: log.child({ source: options.name }),
    });
    this.#cache = new AnswerCache({
      lifetimeMs: options.cache ? LIFETIME_MS : 0,
      size: CACHE_SIZE,
      elapsed,
    });
  }

  attributesOf({ dn }: Identity, signal: AbortSignal): Promise<AttributeSet> {
    // Shared: one caller's abort must not cancel the others.
    return this.#cache.get(dn, (signal) => this.#ask(dn, signal), signal);
  }

  status(address: string): RemoteStatus | undefined {
    return address === this.#options.address ? this.#remote.status() : undefined;
  }

  close(): void {
    this.#closed.abort();
  }

  async #ask(dn: string, abandoned: AbortSignal): Promise<AttributeSet> {
    const { address, gcid } = this.#options;
    const signal = AbortSignal.any([abandoned, this.#closed.signal]);
    // The user is authenticated; their address does not matter.
    const asker = { queueKey: dn, known: true, credential: dn, address: dn, signal };
    try {
      const record = await this.#remote.ask(
        this.#form.request(address, gcid, dn),
        asker,
        (answer) => this.#read(answer),
      );
      return attributesOfRecord(record);
    } catch (error) {
      throw httpError("ERR_ATTRIBUTE_SOURCE", `Attribute source ${this.name}: ${reasonOf(error)}`, error);
    }
  }

  #read({ status, body }: OutgoingResponse): XuudbRecord {
    if (status !== 200) throw this.#remote.unusable(`the XUUDB answered with status ${status}`);
    try {
      return this.#form.read(body);
    } catch (error) {
      throw error instanceof InvalidAnswer ? this.#remote.unusable("not understood", error) : error;
    }
  }
}

function reasonOf(error: unknown): string {
  if (error instanceof InvalidAnswer) return "not understood";
  return error instanceof RemoteUnavailable && error.connected ? error.reason : "the XUUDB cannot be reached";
}

function attributesOfRecord({ xlogin, role, projects }: XuudbRecord): AttributeSet {
  const standard = new Map<StandardAttribute, AttributeValues>();
  for (const [name, text] of [["xlogin", xlogin], ["role", role], ["group", projects]] as const) {
    const values = (text ?? "").split(":").filter((value) => !/^ *$/.test(value));
    // Not trimmed: that could change an account or void a ban.
    const reason = values.map(confusable).find((reason) => reason !== undefined);
    if (reason !== undefined) throw new InvalidAnswer(`${name} has ${reason}`);
    if (values.length > 0) standard.set(name, attributeValues(name, values));
  }
  return { standard, extra: new Map() };
}
