/** Request to another system. */
export interface OutgoingRequest {
  readonly method: "GET" | "POST";
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** Response of another system, with any status. */
export interface OutgoingResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>; // lower-case names
  readonly body: string; // UTF-8; bounded
}

/** HTTPS client with the service's anchors and limits; follows no redirects. */
export interface OutgoingHttp {
  readonly connectionsPerHost?: number; // concurrent requests per host
  /** @throws {RemoteUnavailable} Without a complete response: refused, TLS, timeout, too long. */
  send(request: OutgoingRequest, signal: AbortSignal): Promise<OutgoingResponse>;
}
