/** Place in the documents that a comment or the name of a test refers to. */
export interface Citation {
  /** Line of the citing file, from 1. */
  readonly line: number;
  /** Wording of the citation, for messages. */
  readonly text: string;
  /** File below `docs/`. */
  readonly page: string;
  /** A heading's number, the number of a row or of a list item below a heading, or the topic of a row. */
  readonly target: string;
}

/** Pages by their name in citations. */
const PAGES: ReadonlyMap<string, string> = new Map([
  ["specification", "protocol/specification.md"],
  ["rest-api.md", "protocol/rest-api.md"],
  ["daemon-protocol.md", "protocol/daemon-protocol.md"],
  ["credentials.md", "protocol/credentials.md"],
  ["protocol/credentials.md", "protocol/credentials.md"],
]);

const NUMBER = String.raw`\d+(?:\.\d+)*`;
const MORE = String.raw`(?:, (?:and )?| and | to )`;

/** `rest-api.md 2.6, steps 3 and 5`, `credentials.md 5.1 to 5.3`, `daemon-protocol.md, appendix`, `rest-api.md D34`. */
const SECTIONS = new RegExp(
  String
    .raw`(?<![\w/-])(specification|[a-z/-]+\.md)(?:,? (appendix)| (D\d+)| (${NUMBER}(?:${MORE}${NUMBER})*)` +
    String.raw`(?:, (?:steps?|rules?) (\d+(?:${MORE}\d+)*))?)`,
  "g",
);
/** `(D28)`: defects that rest-api.md numbers. */
const DEFECTS = /\((D\d+)\b/g;
/** `design decision "Multipliers"`, `design decisions "Anonymous" and "status"`. */
const DECISIONS = /\bdesign decisions?((?:(?:,| and)? "[^"]+")+)/g;
/** `design note 4`, `design notes 4 and 8`. */
const NOTES = new RegExp(String.raw`\bdesign notes? (\d+(?:${MORE}\d+)*)`, "g");

/** Returns all citations of a source file, even if a comment breaks them over two lines. */
export function citationsIn(source: string): Citation[] {
  // Blanks replace the comment mark of a next line, so that positions in the text do not change.
  const text = source.replace(/\n[ \t]*(?:\*(?!\/)|\/\/|#)?[ \t]*/g, (mark) => " ".repeat(mark.length))
    .replace(/(?<= ) +/g, (blanks) => "\0".repeat(blanks.length));
  const places = [...text].flatMap((character, index) => character === "\0" ? [] : [index]);
  const found: Citation[] = [];
  const flat = text.replaceAll("\0", "");
  const add = (index: number, text: string, page: string, targets: readonly string[]) => {
    const line = source.slice(0, places[index]).split("\n").length;
    for (const target of targets) found.push({ line, text, page, target });
  };
  for (
    const { index, 0: all, 1: name = "", 2: appendix, 3: row, 4: numbers, 5: items } of flat.matchAll(
      SECTIONS,
    )
  ) {
    const sections = numbersIn(numbers ?? "");
    const last = sections.at(-1) ?? "";
    add(index, all, PAGES.get(name) ?? name, [
      ...(appendix === undefined ? [] : ["Appendix"]),
      ...(row === undefined ? [] : [row]),
      ...sections,
      ...numbersIn(items ?? "").map((item) => `${last}/${item}`),
    ]);
  }
  for (const { index, 0: all, 1: row = "" } of flat.matchAll(DEFECTS)) {
    add(index, all, "protocol/rest-api.md", [row]);
  }
  for (const { index, 0: all, 1: topics = "" } of flat.matchAll(DECISIONS)) {
    add(
      index,
      all,
      "protocol/decisions.md",
      [...topics.matchAll(/"([^"]+)"/g)].map(([, topic = ""]) => topic),
    );
  }
  for (const { index, 0: all, 1: numbers = "" } of flat.matchAll(NOTES)) {
    add(index, all, "architecture.md", numbersIn(numbers).map((number) => `Design notes/${number}`));
  }
  return found;
}

function numbersIn(text: string): string[] {
  return text.match(new RegExp(NUMBER, "g")) ?? [];
}

/** Returns the targets of a page: numbers or titles of headings, first cells of rows, `<heading>/<item>`. */
export function targetsOf(page: string): Set<string> {
  const targets = new Set<string>();
  let heading = "";
  for (const line of page.replace(/^```[\s\S]*?^```$/gm, "").split("\n")) {
    const [, number, title = ""] = /^#{2,4} (?:(\d+(?:\.\d+)*)\.? )?(.+)$/.exec(line) ?? [];
    if (title !== "") {
      heading = number ?? title.split(":")[0] ?? "";
      targets.add(heading);
    }
    const cell = /^\| ([^|]*?) *\|/.exec(line)?.[1];
    if (cell !== undefined) targets.add(cell);
    const item = /^(\d+)\. /.exec(line)?.[1];
    if (item !== undefined) targets.add(`${heading}/${item}`);
  }
  return targets;
}

/** Reports whether a target is among those of its page; the first words of a topic suffice. */
export function resolves(target: string, targets: ReadonlySet<string>): boolean {
  return targets.has(target) ||
    (/^[A-Za-z]{2}/.test(target) && [...targets].some((topic) => topic.startsWith(`${target} `)));
}
