import ts from "typescript";

/** One promise of the documents, and a way to break the code so that it is not kept any more. */
export interface Breakage {
  /**
   * Rows of the tables in `docs/threat-model.md` and `docs/reliability.md` that this breaks: the beginnings of their first
   * cells.
   */
  readonly rows: readonly string[];
  /** What is broken, for people: completes "… any more". */
  readonly broken: string;
  readonly file: string;
  /** @throws {AnchorGone} If the source is not any more what this was written for. */
  readonly change: (text: string) => string;
  /** Tests of which one must fail, those through the public door first. */
  readonly tests: readonly string[];
  /** What the names of these tests contain; absent: all. */
  readonly only?: string;
}

/** The code has changed so that a breakage does not find its place: it has to be written anew. */
export class AnchorGone extends Error {
  override readonly name = "AnchorGone";
}

/** Puts something else in the place of a text that is there exactly once; blanks and line ends count alike. */
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

/** Makes a function or method fail with an error that nobody promised, for one call in a hundred. */
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
