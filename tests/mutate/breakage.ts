import ts from "typescript";

/** Promise in the documents, with a change of the code that breaks it. */
export interface Breakage {
  /**
   * Rows of the tables in `docs/threat-model.md` and `docs/reliability.md` that this breaks: beginnings of
   * their first cells.
   */
  readonly rows: readonly string[];
  /** Behaviour of the broken code, for the report. */
  readonly broken: string;
  readonly file: string;
  /** @throws {AnchorGone} If the source no longer contains the code to change. */
  readonly change: (text: string) => string;
  /** Tests, at least one of which must fail; tests through the public interface come first. */
  readonly tests: readonly string[];
  /** Text in the names of these tests; absent: all tests run. */
  readonly only?: string;
}

/** Error for a breakage that no longer finds its place in the code, and must be rewritten. */
export class AnchorGone extends Error {
  override readonly name = "AnchorGone";
}

/** Returns a change that replaces a text that occurs exactly once; all white space is equal. */
export function instead(anchor: string, put: string): (text: string) => string {
  return (text) => {
    const pattern = anchor.trim().split(/\s+/).map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"))
      .join("\\s+");
    const found = [...text.matchAll(new RegExp(pattern, "g"))];
    const [place] = found;
    if (place === undefined || found.length > 1) {
      throw new AnchorGone(`found ${found.length} times, expected once: ${anchor}`);
    }
    return text.slice(0, place.index) + put + text.slice(place.index + place[0].length);
  };
}

/** Returns a change that makes a function or method throw an undocumented error in one of a hundred calls. */
export function failingNowAndThen(name: string): (text: string) => string {
  return (text) => {
    const source = ts.createSourceFile("source.ts", text, ts.ScriptTarget.Latest, true);
    const bodies: ts.Block[] = [];
    const visit = (node: ts.Node): void => {
      const isNamed = (ts.isFunctionDeclaration(node) || ts.isMethodDeclaration(node)) &&
        node.name?.getText(source) === name;
      if (isNamed && node.body !== undefined) bodies.push(node.body);
      ts.forEachChild(node, visit);
    };
    visit(source);
    const [body] = bodies;
    if (body === undefined) throw new AnchorGone(`there is no function ${name}`);
    const start = body.getStart(source) + 1;
    return `${text.slice(0, start)} if (Math.random() < 0.01) throw new TypeError("broken"); ${
      text.slice(start)
    }`;
  };
}
