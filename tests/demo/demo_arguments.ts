import { parseArgs } from "node:util";

/** Parsed arguments of the demo. */
export interface DemoArguments {
  /** Port of the service on localhost; 0 selects a free port. */
  readonly port: number;
  /** Number of instances that share a database; absent for one instance without a database. */
  readonly instances: number | undefined;
  /** Whether the demo ends after its output, instead of at Ctrl-C. */
  readonly once: boolean;
}

/** Error for wrong arguments, with the expected value. */
export class WrongArguments extends Error {
  override readonly name = "WrongArguments";
}

export const USAGE = `Usage: deno task demo [--port N] [--instances N] [--once]
  --port N       Port of the service on localhost, default 9000; 0 takes one that is free
  --instances N  So many instances (2 to 9) with PostgreSQL behind HAProxy, one of them killed on the way
  --once         End when all was shown, instead of at Ctrl-C`;

/** Parses the arguments. @throws {WrongArguments} */
export function readDemoArguments(args: readonly string[]): DemoArguments {
  const { port, instances, once } = parsed(args);
  return {
    port: within(port, { name: "--port", from: 0, to: 65535, what: "a port, 0 to 65535" }),
    instances: instances === undefined
      ? undefined
      : within(instances, { name: "--instances", from: 2, to: 9, what: "2 to 9 (left out, there is one)" }),
    once,
  };
}

function parsed(args: readonly string[]) {
  try {
    const { values } = parseArgs({
      args: [...args],
      options: {
        port: { type: "string", default: "9000" },
        instances: { type: "string" },
        once: { type: "boolean", default: false },
      },
    });
    return values;
  } catch (error) {
    throw new WrongArguments(error instanceof Error ? error.message : String(error));
  }
}

function within(
  text: string,
  { name, from, to, what }: {
    readonly name: string;
    readonly from: number;
    readonly to: number;
    readonly what: string;
  },
): number {
  const value = Number(text);
  if (/^\d{1,5}$/.test(text) && value >= from && value <= to) return value;
  throw new WrongArguments(`${name}: found ${JSON.stringify(text)}, expected ${what}`);
}
