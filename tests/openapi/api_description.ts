import assert from "node:assert/strict";
import { mismatches, type Schema } from "./json_schema.ts";

/** Answer with its request. */
export interface Exchange {
  readonly method: string;
  /** Path and query, as sent. */
  readonly path: string;
  readonly status: number;
  /** Returns the value of a header of the answer. */
  readonly header: (name: string) => string | undefined;
  /** Body as text; absent if the test did not read it. */
  readonly text?: string;
}

interface Described {
  readonly $ref?: string;
  readonly headers?: Readonly<Record<string, unknown>>;
  readonly content?: Readonly<Record<string, { readonly schema?: Schema }>>;
}

interface Document {
  readonly paths: Readonly<
    Record<string, Readonly<Record<string, { readonly responses: Readonly<Record<string, Described>> }>>>
  >;
  readonly components: {
    readonly schemas: Readonly<Record<string, Schema>>;
    readonly responses: Readonly<Record<string, Described>>;
  };
}

/** OpenAPI description of the service, for the check of every answer in a test. */
export class ApiDescription {
  readonly #document: Document;

  /**
   * @param document Content of `/openapi.json`.
   * @param sites Site names that may begin a path.
   */
  constructor(document: unknown, readonly sites: readonly string[] = []) {
    assert(isDocument(document), "expected an OpenAPI document");
    this.#document = document;
  }

  /** Fails if status, media type, headers or body of an answer differ from the description. */
  check(exchange: Exchange): void {
    assert.deepEqual(
      this.diagnostics(exchange),
      [],
      `${exchange.method} ${exchange.path} -> ${exchange.status}`,
    );
  }

  /** Returns the differences between an answer and the description. */
  diagnostics(exchange: Exchange): string[] {
    const { method, path, status } = exchange;
    const methods = this.#methodsOf(path);
    if (method === "OPTIONS") return methods === undefined || status === 204 ? [] : [`status ${status}`];
    const operation = methods?.[method === "HEAD" ? "get" : method.toLowerCase()];
    if (operation === undefined) {
      // The description has no unknown paths, but errors have the same form everywhere. A path with dots may
      // resolve to a known one, so this check does not distinguish 404 and 405.
      return [400, 404, 405, 408, 413, 431, 503].includes(status)
        ? this.#contentDiagnostics(exchange, ERROR)
        : [`status ${status}`];
    }
    const response = operation.responses[status];
    if (response === undefined) return [`status ${status} is not described`];
    const described = this.#response(response);
    return [
      ...Object.keys(described.headers ?? {}).filter((name) => exchange.header(name) === undefined)
        .map((name) => `header ${name} is missing`),
      ...this.#contentDiagnostics(exchange, described),
    ];
  }

  #contentDiagnostics(exchange: Exchange, { content }: Described): string[] {
    const { method, text } = exchange;
    const type = exchange.header("Content-Type")?.replace(/;.*/, "");
    if (content === undefined) return text ? [`a body of ${text.length} characters is not described`] : [];
    if (type === undefined) return method === "HEAD" ? [] : ["there is no Content-Type"];
    if (type === "text/html") return []; // the description does not describe pages one by one
    const described = content[type];
    if (described === undefined) return [`media type ${type} is not described`];
    if (method === "HEAD" || text === undefined || described.schema === undefined) return [];
    const value: unknown = type === "application/json" ? JSON.parse(text) : text;
    return mismatches(value, described.schema, (ref) => this.#schema(ref));
  }

  #response(response: Described): Described {
    if (response.$ref === undefined) return response;
    const found = this.#document.components.responses[response.$ref.replace("#/components/responses/", "")];
    assert(found !== undefined, `${response.$ref} is not there`);
    return found;
  }

  #schema(ref: string): Schema {
    const schema = this.#document.components.schemas[ref.replace("#/components/schemas/", "")];
    assert(schema !== undefined, `${ref} is not there`);
    return schema;
  }

  /** Returns the methods of the most exact template for a path, which has the fewest placeholders. */
  #methodsOf(path: string) {
    const { pathname } = new URL(path, "https://authserver.invalid");
    const site = this.sites.find((name) => pathname.toLowerCase().startsWith(`/${name}/`.toLowerCase()));
    const below = site === undefined ? pathname : pathname.slice(site.length + 1);
    const matching = Object.entries(this.#document.paths).filter(([template]) => {
      const pattern = template.replace(/[.*+?^$()|[\]\\]/g, "\\$&").replace(/\{rest\}/g, ".*")
        .replace(/\{\w+\}/g, "[^/]+");
      return new RegExp(`^${pattern}/?$`, "s").test(below);
    });
    matching.sort(([a], [b]) => a.split("{").length - b.split("{").length || b.length - a.length);
    return matching[0]?.[1];
  }
}

const ERROR: Described = {
  content: {
    "application/json": { schema: { $ref: "#/components/schemas/Error" } },
  },
};

function isDocument(value: unknown): value is Document {
  return typeof value === "object" && value !== null && "paths" in value && "components" in value;
}
