import { canonicalDn } from "../../../src/model/distinguished_name.ts";
import type { Credential } from "../../pki/authority.ts";
import type { OutgoingHttp } from "../../../src/outgoing/outgoing.ts";

/** User of an XUUDB; `:` separates the items of a list. */
export interface XuudbUser {
  readonly xlogin?: string;
  readonly role?: string;
  readonly projects?: string;
}

/** XUUDB on loopback that speaks both wire forms of credentials.md 7.6. */
export interface XuudbSimulator extends AsyncDisposable {
  readonly address: string;
  /** Requests so far, by path without query. */
  readonly requests: readonly string[];
  /** If set, every request waits for it. */
  hold: Promise<void> | undefined;
  /** If set, the answer to every request. */
  reply: { readonly status: number; readonly body: string } | undefined;
}

/**
 * Starts the simulator.
 * @param users By site and name.
 * @param tls Server certificate; absent: plain HTTP.
 */
export function startXuudb(
  users: Readonly<Record<string, Readonly<Record<string, XuudbUser>>>>,
  tls?: Credential,
): XuudbSimulator {
  const requests: string[] = [];
  const find = (gcid: string, dn: string): XuudbUser | undefined => {
    const name = canonicalDn(dn);
    return Object.entries(users[gcid] ?? {}).find(([other]) => canonicalDn(other) === name)?.[1];
  };
  const address = { hostname: "127.0.0.1", port: 0, onListen: () => {} };
  const options = tls === undefined ? address : { ...address, cert: tls.certificate, key: tls.key };
  const server = Deno.serve(options, async (request) => {
    const { pathname, searchParams } = new URL(request.url);
    requests.push(`${request.method} ${pathname}`);
    await simulator.hold;
    if (simulator.reply !== undefined) {
      return new Response(simulator.reply.body, { status: simulator.reply.status });
    }
    if (pathname === "/XUUDBQuery") return soap(await request.text(), request.headers, find);
    const gcid = /^\/rest\/xuudb\/query\/([^/]+)$/.exec(pathname)?.[1];
    const dn = searchParams.get("dn");
    if (gcid === undefined) return new Response("not found", { status: 404 });
    if (dn === null) return Response.json({ errorMessage: "dn is missing", status: 400 }, { status: 400 });
    const site = decodeURIComponent(gcid);
    const user = find(site, dn);
    return Response.json(user === undefined ? {} : { gcid: site, token: canonicalDn(dn), ...user });
  });
  const simulator: XuudbSimulator = {
    address: tls === undefined
      ? `http://127.0.0.1:${server.addr.port}`
      : `https://localhost:${server.addr.port}`,
    requests,
    hold: undefined,
    reply: undefined,
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
  return simulator;
}

function soap(
  body: string,
  headers: Headers,
  find: (gcid: string, dn: string) => XuudbUser | undefined,
): Response {
  const text = (name: string) => {
    const raw = new RegExp(`<x:${name}>([^<]*)</x:${name}>`).exec(body)?.[1] ?? "";
    return raw.replace(/&#([0-9]+);/g, (_, code: string) => String.fromCharCode(Number(code)));
  };
  const valid = body.includes('<x:CheckDN xmlns:x="http://www.fz-juelich.de/unicore/xuudb">') &&
    headers.get("SOAPAction") === '""' && /^text\/xml/.test(headers.get("Content-Type") ?? "");
  const [gcid, dn] = [text("gcID"), text("DistinguishedName")];
  const user = find(gcid, dn);
  const escape = (value: string) => value.replace(/[<&]/g, (c) => `&#${c.charCodeAt(0)};`);
  const members = Object.entries(user ?? {}).map(([name, value]) => `<x:${name}>${escape(value)}</x:${name}>`)
    .join("");
  const token = user === undefined
    ? ""
    : `<x:gcID>${escape(gcid)}</x:gcID><x:Token>${escape(canonicalDn(dn))}</x:Token>`;
  const answer = valid
    ? `<x:CheckDNResponse xmlns:x="http://www.fz-juelich.de/unicore/xuudb">${token}${members}</x:CheckDNResponse>`
    : "<soap:Fault><faultcode>soap:Client</faultcode><faultstring>not understood</faultstring></soap:Fault>";
  return new Response(
    `<?xml version="1.0" encoding="UTF-8"?>\n<soap:Envelope xmlns:soap="http://schemas.xmlsoap.org/soap/envelope/">` +
      `<soap:Body>${answer}</soap:Body></soap:Envelope>`,
    { status: valid ? 200 : 500, headers: { "Content-Type": "text/xml" } },
  );
}

/** Client for plain HTTP on loopback. */
export const LOOPBACK_HTTP: OutgoingHttp = {
  async send({ method, url, headers, body }, signal) {
    const init = { method, signal, headers: { ...headers }, ...(body === undefined ? {} : { body }) };
    const response = await fetch(url, init);
    return {
      status: response.status,
      headers: Object.fromEntries(response.headers),
      body: await response.text(),
    };
  },
};
