/** A request this service makes to another system, such as an identity provider. */
export interface OutgoingRequest {
  readonly method: "GET" | "POST";
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** What another system answered, whatever the status. */
export interface OutgoingResponse {
  readonly status: number;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  /** Decoded as UTF-8; bounded. */
  readonly body: string;
}

/** HTTPS to other systems, with the service's trust anchors and time limits. Follows no redirects. */
export interface OutgoingHttp {
  /** Most requests to one host that are under way at the same time; more would wait for each other. */
  readonly connectionsPerHost?: number;
  /** @throws {RemoteUnavailable} If no complete answer came: refused, TLS, time-out, too long. Any status is an answer. */
  send(request: OutgoingRequest, signal: AbortSignal): Promise<OutgoingResponse>;
}
