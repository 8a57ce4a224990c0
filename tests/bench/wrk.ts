/** Load on a server. */
export interface Load {
  readonly url: string;
  readonly connections: number;
  readonly seconds: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent with `POST`, as JSON. */
  readonly body?: string;
  /** Values of `Authorization`, one per request, in turn. */
  readonly authorizations?: readonly string[];
}

export interface LoadResult {
  readonly requests: number;
  /** Requests a second. */
  readonly rate: number;
  /** 99th percentile of the latency, in milliseconds. */
  readonly p99: number;
  /** Answers with a status of 400 or more, and socket errors. */
  readonly failures: number;
  /** Lines of wrk about failures. */
  readonly said: string;
}

/** Puts load on a server with wrk. */
export async function runWrk(load: Load): Promise<LoadResult> {
  const script = await Deno.makeTempFile({ suffix: ".lua" });
  try {
    await Deno.writeTextFile(script, luaOf(load));
    const { stdout } = await new Deno.Command("wrk", {
      args: [
        "--threads=1",
        `--connections=${load.connections}`,
        `--duration=${load.seconds}s`,
        "--timeout=10s",
        "--latency",
        `--script=${script}`,
        load.url,
      ],
      stderr: "inherit",
    }).output();
    return resultOf(new TextDecoder().decode(stdout));
  } finally {
    await Deno.remove(script);
  }
}

function luaOf({ headers = {}, body, authorizations }: Load): string {
  const text = (value: string) => JSON.stringify(value);
  const lines = Object.entries({ Accept: "application/json", ...headers }).map(([name, value]) =>
    `wrk.headers[${text(name)}] = ${text(value)}`
  );
  if (body !== undefined) {
    lines.push('wrk.method = "POST"', `wrk.body = ${text(body)}`);
    lines.push('wrk.headers["Content-Type"] = "application/json"');
  }
  if (authorizations !== undefined) {
    lines.push(
      `local values = {${authorizations.map(text).join(",")}}`,
      "local at = 0",
      "request = function()",
      "  at = at % #values + 1",
      '  wrk.headers["Authorization"] = values[at]',
      "  return wrk.format()",
      "end",
    );
  }
  return lines.join("\n");
}

function resultOf(text: string): LoadResult {
  const number = (pattern: RegExp) => Number(pattern.exec(text)?.[1] ?? 0);
  const [, p99 = "0", unit = "ms"] = /^\s+99%\s+([\d.]+)(us|ms|s|m)/m.exec(text) ?? [];
  const socketErrors = [...text.matchAll(/(?:connect|read|write|timeout) (\d+)/g)];
  return {
    requests: number(/(\d+) requests in/),
    rate: number(/Requests\/sec:\s+([\d.]+)/),
    p99: Number(p99) * ({ us: 0.001, ms: 1, s: 1000, m: 60_000 }[unit] ?? 1),
    failures: number(/Non-2xx or 3xx responses: (\d+)/) +
      socketErrors.reduce((sum, [, count]) => sum + Number(count), 0),
    said: text.split("\n").filter((line) => /Socket errors|Non-2xx/.test(line)).map((line) => line.trim())
      .join("; "),
  };
}
