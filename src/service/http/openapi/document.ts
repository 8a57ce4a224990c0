import { STATUS_CODES } from "node:http";
import { DAV_METHODS, isHealth, type Route, type RouteService } from "../router.ts";
import { VERSION } from "../../version.ts";
import type { AnswerContent, Operation } from "./operation.ts";
import { ERRORS } from "../../../model/errors.ts";
import { SCHEMAS } from "./schemas.ts";

type Json = Readonly<Record<string, unknown>>;

const OTHERS = "x-oai-additionalOperations";

/** Returns the OpenAPI 3.1 description of the routes. @param base Without trailing slash. */
export function openApiDocument(routes: readonly Route[], base: string): Json {
  const paths: Record<string, Record<string, Json>> = {};
  for (const route of routes) {
    if (route.doc === undefined) continue;
    const path = route.path.replace(/[:*](\w+)/g, "{$1}");
    const described = operation(route, route.doc);
    // OpenAPI 3.1 has no place for the methods of WebDAV; 3.2 has one, and this name for it in earlier versions.
    paths[path] = DAV_METHODS.some((each) => each === route.method)
      ? { ...paths[path], [OTHERS]: { ...paths[path]?.[OTHERS], [route.method]: described } }
      : { ...paths[path], [route.method.toLowerCase()]: described };
  }
  return {
    openapi: "3.1.0",
    info: {
      title: "authserver",
      version: VERSION,
      summary: "Auth service for UFTP file transfer",
      description:
        "GET resources answer HEAD as well. Every error has a JSON body with a stable code. Whoever prefers text/html " +
        "gets pages, of errors too; they are not described.",
      license: { name: "MIT", identifier: "MIT" },
    },
    servers: [{ url: base }],
    tags: Object.values(TAGS),
    paths,
    components: {
      schemas: SCHEMAS,
      securitySchemes: {
        basic: { type: "http", scheme: "basic" },
        bearer: { type: "http", scheme: "bearer" },
      },
    },
  };
}

const TAGS: Readonly<Record<RouteService, { readonly name: string; readonly description: string }>> = {
  auth: { name: "auth", description: "Who the caller is, and sessions on transfer daemons" },
  share: { name: "share", description: "What owners do with their shares" },
  access: { name: "access", description: "Files that are shared" },
  admin: { name: "admin", description: "Actions of administrators, who have the role admin" },
  open: { name: "service", description: "The service itself; no credentials are looked at" },
};

function operation(route: Route, doc: Operation): Json {
  const placeholders = [...route.path.matchAll(/[:*](\w+)/g)].map(([, name]) => ({
    name,
    in: "path",
    required: true,
    schema: { type: "string", minLength: 1 },
  }));
  const query = Object.entries(doc.query ?? {}).map(([name, schema]) => ({ name, in: "query", schema }));
  const { body } = doc;
  return {
    operationId: doc.id,
    summary: doc.summary,
    description: doc.details,
    tags: [TAGS[route.service].name],
    security: route.service === "open" ? [] : [{}, { basic: [] }, { bearer: [] }],
    ...(placeholders.length + query.length > 0 && { parameters: [...placeholders, ...query] }),
    ...(body !== undefined && {
      requestBody: {
        required: true,
        content: { [route.consumes ?? "application/octet-stream"]: contentOf(body) },
      },
    }),
    responses: {
      ...Object.fromEntries(
        Object.entries(doc.answers).map(([status, content]) => [status, answer(content)]),
      ),
      ...Object.fromEntries(errorsOf(route).map((status) => [status, refusal(status, doc)])),
    },
  };
}

function answer({ description, content, headers }: AnswerContent): Json {
  return {
    description,
    ...(headers && {
      headers: Object.fromEntries(
        Object.entries(headers).map(([name, says]) => [
          name,
          { description: says, required: true, schema: { type: "string" } },
        ]),
      ),
    }),
    ...(content && {
      content: Object.fromEntries(Object.entries(content).map(([type, what]) => [type, contentOf(what)])),
    }),
  };
}

/** Combines the error with an operation's own answer of the same status. */
function refusal(status: number, { answers }: Operation): Json {
  const error = contentOf("Error").schema;
  const own = answers[status]?.content?.["application/json"];
  const codes = Object.entries(ERRORS).flatMap(([code, row]) => row.status === status ? code : []);
  return {
    description: `${STATUS_CODES[status] ?? "Error"}: ${codes.join(", ")}`,
    content: {
      "application/json": { schema: own === undefined ? error : { anyOf: [contentOf(own).schema, error] } },
    },
  };
}

function contentOf(what: keyof typeof SCHEMAS | "text" | "bytes"): Json {
  if (what === "bytes") return { schema: { type: "string", format: "binary" } };
  return { schema: what === "text" ? { type: "string" } : { $ref: `#/components/schemas/${what}` } };
}

/** Errors of the edge, for any request. */
const OF_THE_EDGE = [400, 408, 413, 431, 500, 503];
/** Errors of authentication, attributes and access rules. */
const OF_KNOWN_CALLERS = [401, 403];
/** Bans of addresses; health checks are exempt. */
const OF_BANS = [429];

/** Returns the error statuses of an operation. */
export function errorsOf({ path, service, consumes, produces, doc }: Route): number[] {
  const all = [
    ...OF_THE_EDGE,
    ...(service === "open" ? [] : OF_KNOWN_CALLERS),
    ...(isHealth(path) ? [] : OF_BANS),
    ...(consumes === undefined ? [] : [415]),
    ...(produces === undefined ? [] : [406]),
    ...doc?.refusals ?? [],
  ];
  return [...new Set(all)].sort();
}
