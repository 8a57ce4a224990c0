import { strip } from "./python_text.ts";

type Rdn = readonly [type: string, value: string];
const TYPES: ReadonlySet<string> = new Set(["C", "CN", "O", "OU", "L", "ST", "DC"]);

/** Who may use the command socket (daemon-protocol.md 1.2), quirks included. */
export class Acl {
  readonly #entries: readonly (readonly Rdn[])[];

  /** @param text The ACL file. */
  constructor(text: string) {
    this.#entries = text.split("\n").map(strip).filter((line) => line !== "" && !line.startsWith("#"))
      .map(parseEntry).filter((entry) => entry !== undefined);
  }

  /**
   * Whether every part of some entry occurs somewhere in the subject.
   * @param subject As `getPeerCertificate().subject`: type to one value or several.
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

/** One line; `undefined` if the daemon would log it as unreadable and go on. A lone comma admits everybody. */
function parseEntry(line: string): Rdn[] | undefined {
  const rdns: Rdn[] = [];
  for (const part of line.split(",").map(strip).filter((part) => part !== "")) {
    const [type = "", value] = part.split("=");
    if (!TYPES.has(type.toUpperCase()) || value === undefined) return undefined;
    rdns.push([type, value]);
  }
  return rdns;
}
