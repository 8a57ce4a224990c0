import { request } from "node:https";

/** Sends a GET request with Basic credentials, as the `curl` line does. */
export function ask(
  url: string,
  trusted: string,
  { name, password }: { readonly name: string; readonly password: string },
): Promise<{ readonly status: number; readonly text: string }> {
  return new Promise((resolve, reject) => {
    const options = {
      auth: `${name}:${password}`,
      headers: { Accept: "application/json" },
      ca: trusted,
      agent: false,
    };
    request(url, options, (response) => {
      let text = "";
      response.setEncoding("utf8");
      response.on("data", (part: string) => text += part);
      response.on("end", () => resolve({ status: response.statusCode ?? 0, text }));
      response.on("error", reject);
    }).on("error", reject).end();
  });
}
