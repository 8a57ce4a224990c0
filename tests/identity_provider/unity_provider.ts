import { Buffer } from "node:buffer";
import type { Credential } from "../pki/authority.ts";
import { type Answer, type HttpsServer, startHttpsServer } from "./https_server.ts";
import { type ResponseOptions, samlMessage, SHA1_OF_UNITY, signElement } from "./saml_message.ts";

/** Unity identity provider for tests: SAML over SOAP for users with password and for tokens. */
export interface UnityProvider extends AsyncDisposable {
  readonly server: HttpsServer;
  readonly address: string;
  /** Values of `Authorization` that it accepts. */
  readonly known: Set<string>;
  /** Changes of its response. */
  set lie(lie: Partial<ResponseOptions>);
  /** Handler that answers in its place, if set. */
  set fault(fault: Answer | undefined);
}

export interface UnityOptions {
  readonly tls: Credential;
  readonly signer: Credential;
  /** URL of the service. */
  readonly url: string;
  readonly now: () => number;
}

export const basicHeader = (user: string, password: string) =>
  `Basic ${Buffer.from(`${user}:${password}`).toString("base64")}`;

export async function startUnityProvider({ tls, signer, url, now }: UnityOptions): Promise<UnityProvider> {
  const known = new Set<string>();
  const behaviour: { lie: Partial<ResponseOptions>; fault: Answer | undefined } = {
    lie: {},
    fault: undefined,
  };
  const sign = (xml: string) => signElement(xml, { signer, ...SHA1_OF_UNITY });
  const server = await startHttpsServer(tls, async (request, response) => {
    if (behaviour.fault !== undefined) return behaviour.fault(request, response);
    if (!known.has(String(request.headers.authorization))) return response.writeHead(401).end();
    const requestId = /<samlp:AuthnRequest [^>]*\bID="([^"]+)"/.exec(request.body)?.[1] ?? "";
    const message = await samlMessage({ requestId, url, now: now(), sign, ...behaviour.lie }, signer);
    response.writeHead(200, { "Content-Type": "text/xml; charset=UTF-8" }).end(message);
  });
  return {
    server,
    address: `${server.origin}/soapidp/saml2idp-soap/AuthenticationService`,
    known,
    set lie(lie: Partial<ResponseOptions>) {
      behaviour.lie = lie;
    },
    set fault(fault: Answer | undefined) {
      behaviour.fault = fault;
    },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}
