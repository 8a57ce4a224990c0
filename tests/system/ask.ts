import { Agent, request } from "node:https";
import type { IncomingHttpHeaders } from "node:http";
import type { Credential } from "../pki/authority.ts";

/** A request as a test states it. */
export interface Question {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Name and password for Basic credentials. */
  readonly as?: readonly [name: string, password: string];
  /** Sent as JSON text; a string or bytes are sent as they are. */
  readonly body?: unknown;
  /** Shown on the TLS connection. */
  readonly certificate?: Credential;
  /** Of kept-alive connections; a connection of its own without it, or with `false`. */
  readonly agent?: Agent | false;
}

/** The answer, whole. */
export interface Reply {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /** The body as JSON. @throws {SyntaxError} */
  json(): Record<string, unknown>;
}

/** Sends one request over HTTPS, trusting one authority only, and waits for the whole answer. */
export function ask(url: string, trusted: string, question: Question = {}): Promise<Reply> {
  const { method, as, body, agent, certificate, headers = {} } = question;
  const content = body === undefined || typeof body === "string" || body instanceof Uint8Array
    ? body
    : JSON.stringify(body);
  return new Promise((resolve, reject) => {
    const outgoing = request(url, {
      method: method ?? (body === undefined ? "GET" : "POST"),
      headers: {
        Accept: "application/json",
        ...(content !== undefined && {
          "Content-Type": "application/json",
          "Content-Length": String(new TextEncoder().encode(content.toString()).length),
        }),
        ...headers,
      },
      ...(as && { auth: as.join(":") }),
      ...(certificate && { cert: certificate.certificate, key: certificate.key }),
      ca: trusted,
      agent: agent ?? false,
    }, (response) => {
      let text = "";
      response.setEncoding("utf8");
      response.on("data", (part: string) => text += part);
      response.on("error", reject);
      response.on("end", () =>
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          text,
          json: () => jsonObject(text),
        }));
    });
    outgoing.on("error", reject);
    outgoing.end(content);
  });
}

function jsonObject(text: string): Record<string, unknown> {
  const value: unknown = JSON.parse(text);
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new TypeError(`expected a JSON object, found ${text}`);
  }
  return Object.fromEntries(Object.entries(value));
}
