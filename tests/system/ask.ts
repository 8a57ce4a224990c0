import { Agent, request } from "node:https";
import type { IncomingHttpHeaders } from "node:http";
import type { Credential } from "../pki/authority.ts";

/** Request that a test sends. */
export interface Question {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Name and password for Basic credentials. */
  readonly as?: readonly [name: string, password: string];
  /** Value to send as JSON; strings and bytes are sent unchanged. */
  readonly body?: unknown;
  /** Client certificate for the TLS connection. */
  readonly certificate?: Credential;
  /** Agent with kept-alive connections; without one, or with `false`, the request opens a new connection. */
  readonly agent?: Agent | false;
}

/** Complete answer. */
export interface Reply {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /** Parses the body as JSON. @throws {SyntaxError} */
  json(): Record<string, unknown>;
}

/** Sends one request over HTTPS, trusts only one authority, and waits for the complete answer. */
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
