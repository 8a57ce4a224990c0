import type { Answer } from "../identity_provider/https_server.ts";

/** Fault of a provider that answers over HTTPS. */
export interface ProviderFault {
  readonly what: string;
  readonly answer: Answer;
}

/** Faults for any request and any media type. */
export const PROVIDER_FAULTS: readonly ProviderFault[] = [
  { what: "never answers", answer: () => {} },
  { what: "closes the connection", answer: (_, response) => response.destroy() },
  { what: "answers 500", answer: (_, response) => response.writeHead(500).end("broken") },
  { what: "answers 429", answer: (_, response) => response.writeHead(429).end() },
  {
    what: "sends its answer byte by byte",
    answer: (_, response) => {
      response.writeHead(200, { "Content-Type": "application/json" });
      const drip = setInterval(() => response.write(" "), 100);
      response.on("close", () => clearInterval(drip));
    },
  },
  {
    what: "sends an endless answer",
    answer: (_, response) => {
      response.writeHead(200, { "Content-Type": "application/json" });
      let parts = 64; // 4 MiB, more than the service reads
      const flood = () => {
        while (parts-- > 0 && response.write('{"a":"'.padEnd(65_536, "a")));
      };
      response.on("drain", flood);
      flood();
    },
  },
  {
    what: "closes in the middle of its answer",
    answer: (_, response) => {
      response.writeHead(200, { "Content-Type": "application/json", "Content-Length": "1000" });
      response.write('{"email":"ann', () => response.destroy());
    },
  },
  {
    what: "answers with an HTML page",
    answer: (_, response) =>
      response.writeHead(200, { "Content-Type": "text/html" }).end("<html>Sign in</html>"),
  },
  {
    what: "answers with half a JSON object",
    answer: (_, response) =>
      response.writeHead(200, { "Content-Type": "application/json" }).end('{"email":"ann'),
  },
  {
    what: "redirects",
    answer: (_, response) => response.writeHead(302, { Location: "https://evil.example/" }).end(),
  },
];

/** Property with a timeout shorter than the default of 20 s, for providers that hang. */
export const SHORT_TIMES = { "container.client.http.socket.timeout": "1500" };

/** Longest pause before the service asks a failed provider again, with time to spare, in milliseconds. */
export const LEFT_ALONE_MS = 75_000;
