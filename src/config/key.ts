import { isIP } from "node:net";
import { resolve } from "node:path";
import { groupNames, isUserAccount } from "../model/account_name.ts";
import { attempt } from "../model/attempt.ts";
import { hostsOf, isAddressRange, isWideRange } from "../model/address.ts";
import { ifValidDn, parseName } from "../model/distinguished_name.ts";

/** Error for an invalid value; the message states the expectation. */
export class UnexpectedValue extends Error {
  constructor(message: string, readonly secret: boolean) {
    super(message);
  }
}

interface ValueContext {
  readonly workingDirectory: string; // base of relative paths, absolute
}

/** Form of a value for {@link configurationSchema}. */
interface JsonForm {
  readonly type: "string" | "integer" | "boolean";
  readonly minimum?: number;
  readonly maximum?: number;
  readonly words?: readonly string[]; // allowed texts, in any case
  readonly pattern?: string; // of the whole text
}

export interface Key<T> {
  readonly shape: "one";
  readonly name?: string; // default: the name in the table
  readonly help: string; // for the manual: a sentence or two without the final full stop
  readonly type: string; // such as `a port number from 1 to 65535`
  readonly json: JsonForm;
  readonly unit?: string;
  readonly added: boolean; // unknown to the Java service
  readonly secret: boolean;
  readonly absent: { readonly value: T } | undefined; // `undefined`: the key is required
  /** Whether an empty value of an optional key counts as absent, as in the Java service. */
  readonly emptyIsAbsent: boolean;
  warning?(text: string): string | undefined; // returns a warning for a suspicious valid text
  /** @param text Trimmed. @throws {UnexpectedValue} */
  parse(text: string, context: ValueContext): T;
}

/** Numbered keys of one type: `directoryLocations.1`, `directoryLocations.2`. */
export interface Items<T> {
  readonly shape: "many";
  readonly name?: string;
  readonly item: Key<T>;
}

/** Value with the last part of its key. */
export interface Item<T> {
  readonly name: string;
  readonly value: T;
}

/** Keys by their names in the program. */
export type Table = Readonly<Record<string, Key<unknown> | Items<unknown>>>;

export type Infer<T extends Table> = {
  readonly [K in keyof T]: T[K] extends Key<infer V> ? V
    : T[K] extends Items<infer V> ? readonly Item<V>[]
    : unknown;
};

interface Options<T> {
  readonly help: string;
  readonly name?: string; // default: the name in the table
  readonly default?: T;
  readonly unit?: string;
  readonly added?: boolean;
}

const PLAIN = { json: { type: "string" }, secret: false, emptyIsAbsent: false } as const;

function key<T>(
  { help, name, unit, added = false, default: value }: Options<T>,
  type: string,
  parse: (text: string, context: ValueContext) => T,
  more: Partial<Pick<Key<T>, "json" | "secret" | "emptyIsAbsent" | "warning">> = {},
): Key<T> {
  const absent = value === undefined ? undefined : { value };
  return { shape: "one", name, help, type, unit, added, absent, parse, ...PLAIN, ...more };
}

/** Declares a key without default that may be absent. */
export function optional<T>(required: Key<T>): Key<T | undefined> {
  return { ...required, absent: { value: undefined }, emptyIsAbsent: !required.secret };
}

/** Declares an optional key whose invalid value counts as absent, with a warning. @param instead What applies then. */
export function lenient<T>(required: Key<T>, instead: string): Key<T | undefined> {
  const value = (text: string) => ({ value: required.parse(text, { workingDirectory: "/" }) });
  const fits = (text: string) => attempt(() => value(text), UnexpectedValue, () => undefined);
  return {
    ...optional(required),
    parse: (text) => fits(text)?.value,
    warning: (text) => fits(text) ? required.warning?.(text) : `not ${required.type}; ${instead}`,
  };
}

/** Declares a list of keys `name.<any>`. */
export function items<T>(item: Key<T>): Items<T> {
  return { shape: "many", name: item.name, item };
}

function fail(expected: string, secret = false): never {
  throw new UnexpectedValue(`expected ${expected}`, secret);
}

/** Declares a non-empty text. */
export function text(options: Options<string>): Key<string> {
  const parse = (found: string) => found === "" ? fail("a text that is not empty") : found;
  return key(options, "text", parse, { emptyIsAbsent: true });
}

/** Declares a secret text. Wrap it in a `Secret` where it is used. */
export function secretText(options: Options<string> & { readonly minBytes?: number }): Key<string> {
  const { minBytes = 0 } = options;
  const type = minBytes > 0 ? `a secret of at least ${minBytes} bytes` : "a secret";
  const parse = (found: string) => new TextEncoder().encode(found).length < minBytes ? fail(type) : found;
  return key(options, type, parse, { secret: true });
}

/** Declares an integer in a range. */
export function integer(
  options: Options<number> & {
    readonly min?: number;
    readonly max?: number;
    readonly zero?: string; // meaning of 0 in the Java service, if unsupported: the default applies
  },
): Key<number> {
  const { min = 0, max = 2_147_483_647, unit, zero, default: ours } = options;
  const type = `a whole number from ${min} to ${max}${unit === undefined ? "" : ` (${unit})`}`;
  const isZero = (found: string) => zero !== undefined && ours !== undefined && /^[+-]?0{1,15}$/.test(found);
  const used = unit === undefined ? ours : `${ours} ${unit}`;
  return key(options, type, (found) => {
    if (isZero(found) && ours !== undefined) return ours;
    const value = /^[+-]?\d{1,15}$/.test(found) ? Number(found) : NaN;
    return value >= min && value <= max ? value : fail(type);
  }, {
    json: { type: "integer", minimum: min, maximum: max, pattern: "[+-]?[0-9]{1,15}" },
    warning: (found) =>
      isZero(found) ? `0 means ${zero} in the Java service; this service uses ${used}` : undefined,
  });
}

/** Declares a number of seconds. */
export function seconds(options: Omit<Parameters<typeof integer>[0], "unit">): Key<number> {
  return integer({ ...options, unit: "seconds" });
}

/** Declares a TCP port. `allowZero` allows 0, which lets the system choose. */
export function port(options: Options<number> & { readonly allowZero?: boolean }): Key<number> {
  const min = options.allowZero ? 0 : 1;
  const type = `a port number from ${min} to 65535`;
  return key(options, type, (found) => {
    const value = /^\d{1,5}$/.test(found) ? Number(found) : NaN;
    return value >= min && value <= 65535 ? value : fail(type);
  }, { json: { type: "integer", minimum: min, maximum: 65535, pattern: "[0-9]{1,5}" } });
}

/** Declares a list of TCP ports. */
export function ports(options: Options<readonly number[]>): Key<readonly number[]> {
  const type = "a port number from 1 to 65535, or several with blanks or commas between";
  return key(options, type, (found) => {
    const all = hostsOf(found).map((each) => /^\d{1,5}$/.test(each) ? Number(each) : NaN);
    return all.length > 0 && all.every((each) => each >= 1 && each <= 65535) ? all : fail(type);
  }, { json: { type: "integer", minimum: 1, maximum: 65535, pattern: "[0-9, ]+" } });
}

const FLAGS = new Map([["true", true], ["yes", true], ["false", false], ["no", false]]);

/** Declares `true`, `yes`, `false` or `no` in any case. */
export function flag(options: Options<boolean>): Key<boolean> {
  const parse = (found: string) => FLAGS.get(found.toLowerCase()) ?? fail("true, yes, false or no");
  return key(options, "true or false", parse, { json: { type: "boolean", words: [...FLAGS.keys()] } });
}

/** Declares a choice of words in any case. */
export function oneOf<const T extends string>(words: readonly T[], options: Options<NoInfer<T>>): Key<T> {
  const type = `one of ${words.join(", ")}`;
  const { default: ours } = options;
  const parse = (found: string) =>
    words.find((word) => word.toLowerCase() === found.toLowerCase()) ??
      (found === "" ? ours : undefined) ?? fail(type);
  return key<T>(options, type, parse, {
    json: { type: "string", words },
    warning: (found) => found === "" ? `empty; the service uses ${ours}` : undefined,
  });
}

/** Splits by blanks, tabs, `|` and `,` (rest-api.md 3.2). */
function splitList(list: string): string[] {
  return list.split(/[\s|,]+/).filter((part) => part !== "");
}

/** Declares a list of names; later duplicates are dropped. @param warning Returns a warning about a name. */
export function list(
  options: Options<readonly string[]>,
  warning: (name: string) => string | undefined = () => undefined,
): Key<readonly string[]> {
  return key(options, "names, separated by blanks, | or ,", (found) => [...new Set(splitList(found))], {
    warning(found) {
      const names = splitList(found);
      const twice = names.find((name, index) => names.indexOf(name) !== index);
      if (twice !== undefined) return `${twice} appears twice; the first one applies`;
      return names.map(warning).find((text) => text !== undefined);
    },
  });
}

/** Declares a file or folder, resolved to an absolute path. */
export function path(options: Options<string>): Key<string> {
  return key(
    options,
    "a path, relative ones start from the working directory",
    (found, { workingDirectory }) => found === "" ? fail("a path") : resolve(workingDirectory, found),
    { emptyIsAbsent: true },
  );
}

/** Declares an absolute URL without user, password and fragment. */
export function url(options: Options<string> & { readonly schemes: readonly string[] }): Key<string> {
  const starts = options.schemes.map((scheme) => `${scheme}://`);
  const type = `a URL that begins with ${starts.join(" or ")}`;
  return key(options, type, (found) => {
    const parsed = URL.parse(found);
    if (
      parsed === null || parsed.hostname === "" ||
      !starts.some((start) => found.toLowerCase().startsWith(start))
    ) {
      fail(type);
    }
    if (parsed.username !== "" || parsed.password !== "" || parsed.hash !== "") {
      fail("a URL without user name, password and fragment", true);
    }
    return found;
  }, { json: { type: "string", pattern: "[A-Za-z]+://.+" } });
}

/** Declares a host name or IP address without port. */
export function host(options: Options<string>): Key<string> {
  const type = "a host name or an IP address, without port";
  return key(options, type, (found) => isHost(found) ? found : fail(type), { emptyIsAbsent: true });
}

/** Declares a list of hosts, see `hostsOf`. */
export function hosts(options: Options<string>): Key<string> {
  const type = "a host name or an IP address, without port, or several with blanks or commas between";
  return key(options, type, (found) => {
    const all = hostsOf(found);
    return all.length > 0 && all.every(isHost) ? found : fail(type);
  }, { emptyIsAbsent: true });
}

function isHost(text: string): boolean {
  return isIP(text) !== 0 || (text.length <= 253 && /^[A-Za-z0-9_.][A-Za-z0-9_.-]*$/.test(text));
}

/** Declares a Java class; the value is its simple name. */
export function className(options: Options<string>): Key<string> {
  const parse = (found: string) => /^(?:[\w$]+\.)*([\w$]+)$/.exec(found)?.[1] ?? fail("a class name");
  return key(options, "a class name", parse, { json: { type: "string", pattern: "[\\w$.]+" } });
}

/** Declares IP addresses and CIDR ranges. */
export function addressRanges(options: Options<readonly string[]>): Key<readonly string[]> {
  return key(options, "IP addresses and ranges such as 192.0.2.0/24", (found) => {
    const ranges = splitList(found);
    const wrong = ranges.find((range) => !isAddressRange(range));
    return wrong === undefined ? ranges : fail(`IP addresses or ranges such as 192.0.2.0/24, not ${wrong}`);
  }, {
    warning(found) {
      const wide = splitList(found).find(isWideRange);
      return wide && `${wide} trusts nearly everybody, expected addresses of your own`;
    },
  });
}

/** Declares a distinguished name (RFC 4514). @param options.placeholder Such as `%s`. */
export function distinguishedName(options: Options<string> & { readonly placeholder?: string }): Key<string> {
  const { placeholder } = options;
  const type = placeholder === undefined
    ? "a distinguished name such as CN=Ann Example,O=Site-A,C=DE"
    : `a distinguished name with ${placeholder} in it`;
  return key(options, type, (found) => {
    if (placeholder !== undefined && !found.includes(placeholder)) fail(type);
    const example = placeholder === undefined ? found : found.replaceAll(placeholder, "x");
    return ifValidDn(() => parseName(example).length > 0) ? found : fail(type);
  });
}

/** Declares a Unix group, or several with `:` between. */
export function unixGroups(options: Options<string>): Key<string> {
  const type = "the name of a Unix group, or several with : between";
  return key(options, type, (found) => groupNames(found).every(isUserAccount) ? found : fail(type));
}

/** Declares an IANA time zone, such as `Europe/Berlin`. */
export function timeZone(options: Options<string>): Key<string> {
  const type = "a time zone such as Europe/Berlin";
  return key(options, type, (found) => {
    const format = () => new Intl.DateTimeFormat("en", { timeZone: found });
    return attempt(format, RangeError, () => fail(type)).resolvedOptions().timeZone;
  });
}

/** Keys with a common prefix, for reading and for the manual. */
export interface Section<T extends Table = Table> {
  readonly prefix: string; // with final dot; `<server>` stands for names
  readonly title: string;
  readonly keys: T;
  readonly added?: true; // whether the Java service knows none of the keys
  /** Keys of the Java service without effect, with the reason after `ignored: `. A final `*` matches any rest. */
  readonly ignored?: Readonly<Record<string, string>>;
  readonly unknown?: "warning"; // severity of unknown keys. Default: error
  /** Returns Java key names, in lower case, for which an unknown key is only a warning. */
  readonly elsewhere?: () => Promise<ReadonlySet<string>>;
  readonly anyCase?: boolean; // whether keys are case-insensitive
}

/** Declares a section and keeps its type. */
export function section<const T extends Table>(described: Section<T>): Section<T> {
  return described;
}

/** Describes keys, separated by blanks, that are ignored for one reason; see {@link Section}. */
export function ignored(reason: string, keys: string): Readonly<Record<string, string>> {
  return Object.fromEntries(keys.split(" ").map((key) => [key, reason]));
}

/** Returns the key that names the file of a secret. @param secret Key of the secret. */
export function fileKey(secret: string): string {
  return `${secret}File`;
}
