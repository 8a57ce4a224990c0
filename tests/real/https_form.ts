import { request } from "node:https";

/** Sends a form or JSON, and returns the JSON of the answer. @throws If the status is not a success. */
export function send(
  url: string,
  certificate: string,
  content: { readonly form: Readonly<Record<string, string>> } | { readonly json: unknown },
  headers: Readonly<Record<string, string>> = {},
): Promise<Readonly<Record<string, unknown>>> {
  const [type, body] = "form" in content
    ? ["application/x-www-form-urlencoded", new URLSearchParams(content.form).toString()] as const
    : ["application/json", JSON.stringify(content.json)] as const;
  return new Promise((resolve, reject) => {
    const outgoing = request(url, {
      method: "POST",
      headers: { "Content-Type": type, ...headers },
      ca: certificate,
      agent: false,
    }, (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (part: string) => text += part).on("end", () => {
        const { statusCode = 0 } = response;
        if (statusCode >= 200 && statusCode < 300) resolve(text === "" ? {} : JSON.parse(text));
        else reject(new Error(`${url} answers ${statusCode}: ${text}`));
      });
    });
    outgoing.on("error", reject);
    outgoing.end(body);
  });
}
