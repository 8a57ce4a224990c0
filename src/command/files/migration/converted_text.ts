/** A line that is not what it was. */
export interface ChangedLine {
  /** Counted from 1. */
  readonly line: number;
  readonly before: string;
  readonly after: string;
}

/** A text with the lines that differ from the one it was made of. */
export interface Converted {
  readonly text: string;
  readonly changes: readonly ChangedLine[];
}

/**
 * The text of a property file or of `startup.properties` for a folder of its own: what lay in the old `conf/` by its
 * absolute path is in the copy now, and nothing is written to places of the old service.
 * @param conf Absolute path of the old `conf/`.
 */
export function convertProperties(text: string, conf: string): Converted {
  const changes: ChangedLine[] = [];
  const isPlaced = /^\s*persistence\.directory\s*[=:]/m.test(text);
  const lines = text.split("\n").map((before, index) => {
    if (/^\s*[#!]/.test(before)) return before;
    const after = ownPlaces(before.replaceAll(`${conf}/`, "conf/")).replace(
      MYSQL,
      isPlaced ? "#$&" : "$1persistence.directory=data",
    );
    if (after !== before) changes.push({ line: index + 1, before, after });
    return after;
  });
  return { text: lines.join("\n"), changes };
}

/** What the Java service takes for true if it is left out. */
const GATEWAY = "container.security.gateway.enable";

/**
 * Adds what the Java service takes for granted to the text of the main file: where the line is left out, there is a gateway.
 */
export function withGateway({ text, changes }: Converted): Converted {
  if (new RegExp(`^\\s*${RegExp.escape(GATEWAY)}\\s*[=:]`, "m").test(text)) return { text, changes };
  const after = `${GATEWAY}=true`;
  const whole = text === "" || text.endsWith("\n") ? text : `${text}\n`;
  const before = "(left out, which is true to the Java service; say false if there is no gateway)";
  return {
    text: `${whole}${after}\n`,
    changes: [...changes, { line: whole.split("\n").length, before, after }],
  };
}

/** Shares that were in MySQL are imported into a folder. */
const MYSQL = /^(\s*)persistence\.class\s*[=:].*MySQLPersist\s*$/;

/** Keys that name where the service writes: with an absolute path that is where the old one does. */
const PLACES: readonly (readonly [RegExp, string])[] = [
  [/^(\s*persistence\.directory\s*[=:]\s*)\/.*$/, "$1data"],
  [/^(\s*PID=)["']?\/.*$/, "$1logs/authserver.pid"],
  [/^(\s*STARTLOG=)["']?\/.*$/, "$1logs/authserver-startup.log"],
  [/^(\s*CONF=)["']?\/.*$/, "$1conf"],
];

function ownPlaces(line: string): string {
  return PLACES.reduce((text, [pattern, place]) => text.replace(pattern, place), line);
}
