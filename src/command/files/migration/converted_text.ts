import type { JavaInstallation } from "./java_installation.ts";

type OldConfiguration = Pick<JavaInstallation, "conf" | "keys">;

export interface ChangedLine {
  readonly line: number; // from 1
  readonly before: string;
  readonly after: string;
}

interface Converted {
  readonly text: string;
  readonly changes: readonly ChangedLine[];
}

/**
 * Converts a property file or `startup.properties` for a new folder: absolute paths into the old `conf/` then point to the
 * copy, and writable places are new.
 */
export function convertProperties(text: string, { conf, keys }: OldConfiguration): Converted {
  const changes: ChangedLine[] = [];
  const database = keys.has("persistence.directory") ? "#$&" : "$1persistence.directory=data";
  const old = new RegExp(`(?<!\\w)${RegExp.escape(conf)}(?![\\w.-])`, "g");
  const lines = text.split("\n").map((before, index) => {
    if (/^\s*[#!]/.test(before)) return before;
    const after = [[old, "conf"] as const, ...PATH_RULES, [MYSQL, database] as const]
      .reduce((text, [pattern, place]) => text.replace(pattern, place), before);
    if (after !== before) changes.push({ line: index + 1, before, after });
    return after;
  });
  return { text: lines.join("\n"), changes };
}

const GATEWAY = "container.security.gateway.enable"; // true by default in the Java service

/** Makes the Java default of the gateway key explicit in the main file. */
export function withGateway({ text, changes }: Converted, { keys }: OldConfiguration): Converted {
  if (keys.has(GATEWAY)) return { text, changes };
  const after = `${GATEWAY}=true`;
  const whole = text === "" || text.endsWith("\n") ? text : `${text}\n`;
  const before = "(left out, which is true to the Java service; say false if there is no gateway)";
  return {
    text: `${whole}${after}\n`,
    changes: [...changes, { line: whole.split("\n").length, before, after }],
  };
}

/** Storage class of shares in MySQL, which we import into a folder. */
const MYSQL = /^(\s*)persistence\.class(?:\s*[=:]|\s).*MySQLPersist\s*$/;

/** Keys of writable places; absolute paths lead to those of the old service, and variables may. */
const PATH_RULES: readonly (readonly [RegExp, string])[] = [
  [/^(\s*persistence\.directory(?:\s*[=:]|\s)\s*)(?:\/|\$\{).*?(\r?)$/, "$1data$2"],
  [/^(\s*PID=)["']?\/.*?(\r?)$/, "$1logs/authserver.pid$2"],
  [/^(\s*STARTLOG=)["']?\/.*?(\r?)$/, "$1logs/authserver-startup.log$2"],
  [/^(\s*CONF=)["']?\/.*?(\r?)$/, "$1conf$2"],
];
