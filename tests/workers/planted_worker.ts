/** Attacker's code in a worker: tries the given actions and reports each outcome. */

declare const self: {
  onmessage: ((event: MessageEvent<Attempt[]>) => void) | null;
  postMessage(outcomes: readonly string[]): void;
};

export interface Attempt {
  readonly kind: "read" | "write" | "listen" | "connect" | "env" | "run" | "import" | "sys" | "ffi";
  readonly what: string;
}

self.onmessage = async ({ data }) => {
  self.postMessage(await Promise.all(data.map(outcome)));
};

/** Returns `allowed`, or the name of the error; the module loader wraps its own refusals. */
async function outcome({ kind, what }: Attempt): Promise<string> {
  try {
    await attempt(kind, what);
    return "allowed";
  } catch (error) {
    if (!(error instanceof Error)) return String(error);
    return /^Requires (?:import|read) access/.test(error.message) ? "NotCapable" : error.name;
  }
}

async function attempt(kind: Attempt["kind"], what: string): Promise<void> {
  const [hostname = "", port = ""] = what.split(/:(?=\d+$)/);
  switch (kind) {
    case "read":
      await Deno.stat(what);
      break;
    case "write":
      await Deno.writeTextFile(what, "");
      break;
    case "listen":
      Deno.listen({ hostname, port: Number(port) }).close();
      break;
    case "connect":
      (await Deno.connect({ hostname, port: Number(port) })).close();
      break;
    case "env":
      Deno.env.get(what);
      break;
    case "run":
      await new Deno.Command(what).output();
      break;
    case "import":
      await import(what);
      break;
    case "sys":
      Deno.hostname();
      break;
    case "ffi":
      Deno.dlopen(what, {});
      break;
  }
}
