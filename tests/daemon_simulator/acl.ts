import { strip } from "./python_text.ts";

type Rdn = readonly [type: string, value: string];
const TYPES: ReadonlySet<string> = new Set(["C", "CN", "O", "OU", "L", "ST", "DC"]);

/** Access control list of the command socket (daemon-protocol.md 1.2), with its quirks. */
export class Acl {
  readonly #entries: readonly (readonly Rdn[])[];

  /** @param text Text of the ACL file. */
  constructor(text: string) {
    this.#entries = text.split("\n").map(strip).filter((line) => line !== "" && !line.startsWith("#"))
      .map(parseEntry).filter((entry) => entry !== undefined);
  }

  /**
   * Reports whether the subject contains every part of some entry.
   * @param subject Value of `getPeerCertificate().subject`: type to one value or several.
   */
  admits(subject: object): boolean {
    const present = new Set(
      Object.entries(subject).flatMap(([type, values]) =>
        [values].flat().map((value) => `${type}=${value}`.toLowerCase())
      ),
    );
    return this.#entries.some((entry) =>
      entry.every(([type, value]) => present.has(`${type}=${value}`.toLowerCase()))
    );
  }
}

/** Parses a line; `undefined` if the daemon would skip it as unreadable. A lone comma admits everybody. */
function parseEntry(line: string): Rdn[] | undefined {
  const rdns: Rdn[] = [];
  for (const part of line.split(",").map(strip).filter((part) => part !== "")) {
    const [type = "", value] = part.split("=");
    if (!TYPES.has(type.toUpperCase()) || value === undefined) return undefined;
    rdns.push([type, value]);
  }
  return rdns;
}
