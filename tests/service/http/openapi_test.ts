import assert from "node:assert/strict";
import { IMAGE_TYPES } from "../../../src/resource/access/file_view.ts";
import { MAX_ENTRIES } from "../../../src/resource/access/listing_part.ts";
import { MAX_SHARES } from "../../../src/resource/share/list_shares.ts";
import { openApiDocument } from "../../../src/service/http/openapi.ts";
import description from "../../../src/service/http/openapi.json" with { type: "json" };
import { pageRoutes } from "../../../src/service/http/page_routes.ts";
import type { Route } from "../../../src/service/http/router.ts";
import { PARTS, ROUTES } from "./every_route.ts";

type Json = Readonly<Record<string, unknown>>;

interface Operation {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly security: readonly Json[];
  readonly parameters: readonly { readonly name: string; readonly in: string; readonly schema: Json }[];
  readonly requestBody?: { readonly content: Json };
  readonly responses: Readonly<Record<string, { readonly content?: Json }>>;
}

const OTHERS = "x-oai-additionalOperations";
const DOCUMENT = JSON.parse(JSON.stringify(openApiDocument(ROUTES, "https://auth.example.org")));
const OPERATIONS = new Map<string, Operation>(
  Object.entries<Record<string, Operation & Record<string, Operation>>>(DOCUMENT.paths).flatMap((
    [path, { [OTHERS]: others, ...methods }],
  ) =>
    Object.entries<Operation>({ ...methods, ...others })
      .map(([method, operation]) => [`${method.toUpperCase()} ${path}`, operation] as const)
  ),
);

function nameOf({ method, path }: Route): string {
  return `${method} ${path.replace(/[:*](\w+)/g, "{$1}")}`;
}

function operationOf(route: Route): Operation {
  const found = OPERATIONS.get(nameOf(route));
  assert(found !== undefined, `${nameOf(route)} is not described`);
  return found;
}

const PAGES = new Set(pageRoutes(PARTS).map(nameOf));
const PUBLISHED = ROUTES.filter((route) => !PAGES.has(nameOf(route)));

/** Returns an operation with all references resolved. */
function resolved(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(resolved);
  if (typeof value !== "object" || value === null) return value;
  const { $ref, ...more } = Object(value);
  if ($ref === undefined) {
    return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, resolved(member)]));
  }
  const found = String($ref).split("/").slice(1).reduce((at, name) => at?.[name], DOCUMENT);
  assert(found !== undefined, `${$ref} is not there`);
  return { ...Object(resolved(found)), ...more };
}

Deno.test("openApiDocument() describes exactly the routes of the API, without pages", () => {
  assert.deepEqual([...OPERATIONS.keys()].sort(), PUBLISHED.map(nameOf).sort());
  const written = Object.entries(description.paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`)
  );
  assert.deepEqual(written.sort(), [...OPERATIONS.keys()].sort());
});

Deno.test("openApiDocument() omits unconfigured features", () => {
  const health = ROUTES.filter(({ path }) => path === "/health/live");
  assert.deepEqual(Object.keys(Object(openApiDocument(health, "https://a").paths)), ["/health/live"]);
});

Deno.test("openApiDocument() describes each query as the service checks it", () => {
  for (const route of PUBLISHED) {
    const parameters = operationOf(route).parameters.map((each) =>
      resolved(each) as Operation["parameters"][0]
    );
    const query = parameters.filter((each) => each.in === "query").map(({ name, schema }) => {
      if (schema.type === "integer") assert.equal(schema.minimum, 1, name);
      return [name, schema.type];
    });
    assert.deepEqual(Object.fromEntries(query), route.query ?? {}, nameOf(route));
    const placeholders = parameters.filter((each) => each.in === "path").map(({ name }) => name);
    assert.deepEqual(placeholders, Array.from(route.path.matchAll(/[:*](\w+)/g), ([, name]) => name));
  }
});

Deno.test("openApiDocument() describes body, answer and credentials as the route has them", () => {
  for (const route of PUBLISHED) {
    const { requestBody, responses, security, tags } = operationOf(route);
    const at = nameOf(route);
    const consumed = Object.keys(requestBody?.content ?? {});
    if (route.consumes !== undefined) assert.deepEqual(consumed, [route.consumes], at);
    else assert(requestBody === undefined || consumed.join() === "application/octet-stream", at);
    assert.deepEqual(security, route.service === "open" ? [] : [{}, { basic: [] }, { bearer: [] }]);
    assert.deepEqual(tags, [route.service === "open" ? "service" : route.service]);
    const successes = Object.keys(responses).filter((status) => Number(status) < 400);
    assert(successes.length > 0, at);
    for (const status of successes) {
      const { content = {} } = resolved(responses[status]) as { content?: Json };
      const types = Object.keys(content).filter((type) => type !== "text/html");
      for (const type of types) assert(route.produces?.includes(type) ?? true, `${at} ${status} ${type}`);
    }
  }
});

Deno.test("openApiDocument() lists the errors of the table for each status", () => {
  const { responses } = DOCUMENT.components;
  assert.match(responses[404].description, /^Not Found: .*ERR_NOT_FOUND/);
  for (const [name, { responses }] of OPERATIONS) {
    for (const status of ["400", "408", "413", "431", "500", "503"]) assert(status in responses, name);
    for (const [status, answer] of Object.entries(responses)) {
      if (Number(status) >= 400) resolved(answer); // fails if a reference is dangling
    }
  }
});

Deno.test("openapi.json has no duplicate name, no dangling reference and no unused component", () => {
  const ids = [...OPERATIONS.values()].map(({ operationId }) => operationId);
  assert.equal(new Set(ids).size, ids.length);
  resolved(DOCUMENT.paths);
  const text = JSON.stringify(description);
  for (const [kind, named] of Object.entries(description.components)) {
    for (const name of Object.keys(named)) {
      const used = text.includes(`"#/components/${kind}/${name}"`) || ["Error"].includes(name);
      assert(used || kind === "securitySchemes", `${kind}/${name} is not used`);
    }
  }
});

Deno.test("openapi.json has the limits and types of the code", () => {
  const { get: list } = description.paths["/rest/share/{server}"];
  const { get: download } = description.paths["/rest/access/{server}/{id}"];
  assert(list.description.includes(`up to ${MAX_SHARES} shares`));
  assert(download.description.includes(`up to ${MAX_ENTRIES} entries`));
  const { SharedFile, PartOfSharedFile } = description.components.responses;
  for (const { content } of [SharedFile, PartOfSharedFile]) {
    const images = Object.keys(content).filter((type) => type.startsWith("image/"));
    assert.deepEqual(images.sort(), [...new Set(IMAGE_TYPES.values())].sort());
  }
});
