import type { IncomingMessage } from "node:http";
import type { EdgeLimits } from "./edge_options.ts";
import type { Body } from "./message.ts";
import { uploadStream } from "./upload_stream.ts";
import { BodyTooLarge, BodyTooSlow, ClientGone } from "./refusal.ts";

/**
 * The body of a request: none, whole and bounded, or for share uploads as a stream.
 * @throws {BodyTooLarge | BodyTooSlow | ClientGone}
 */
export function readBody(request: IncomingMessage, limits: EdgeLimits): Promise<Body> {
  const announced = request.headers["content-length"];
  const chunked = request.headers["transfer-encoding"] !== undefined;
  if (!chunked && (announced === undefined || announced === "0")) return Promise.resolve(null);
  if (isUpload(request)) return Promise.resolve(uploadStream(request));
  if (announced !== undefined && Number(announced) > limits.bodyBytes) {
    return Promise.reject(new BodyTooLarge());
  }
  return collect(request, limits);
}

/** Share uploads are as long as they are; everything else is a small JSON text. */
function isUpload({ method, url = "" }: IncomingMessage): boolean {
  return method === "PUT" && /^(?:\/[^/?]*)?\/rest\/access\//.test(url);
}

function collect(request: IncomingMessage, limits: EdgeLimits): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    const parts: Uint8Array[] = [];
    let size = 0;
    const timer = setTimeout(() => fail(new BodyTooSlow()), limits.bodyMs);
    const onClose = () => fail(new ClientGone());
    const fail = (error: Error) => {
      clearTimeout(timer);
      reject(error);
    };
    request.on("data", (part: Uint8Array) => {
      size += part.length;
      if (size > limits.bodyBytes) fail(new BodyTooLarge());
      else parts.push(part);
    });
    request.on("end", () => {
      clearTimeout(timer);
      request.off("close", onClose); // it comes after each request
      resolve(join(parts, size));
    });
    request.on("close", onClose);
    request.on("error", (error) => fail(new ClientGone(error.message)));
  });
}

/** Copies the parts, so that the result owns its memory and can be handed over to another room. */
function join(parts: readonly Uint8Array[], size: number): Uint8Array {
  const whole = new Uint8Array(size);
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}
