import { DAV_METHODS, type Route, type RouteService } from "../router.ts";
import { VERSION } from "../../version.ts";
import type { AnswerContent, Operation } from "./operation.ts";
import { errorsOf, STATUS_MEANINGS } from "./error_answers.ts";
import { SCHEMAS } from "./schemas.ts";

type Json = Readonly<Record<string, unknown>>;

/** Returns the OpenAPI 3.1 description of the routes. @param base Without trailing slash. */
export function openApiDocument(routes: readonly Route[], base: string): Json {
  const paths: Record<string, Record<string, Json>> = {};
  for (const route of routes) {
    if (route.doc === undefined) continue;
    const path = templateOf(route.path);
    const described = operation(route, route.doc);
    // OpenAPI 3.1 has no place for the methods of WebDAV; 3.2 has one, and this name for it in earlier versions.
    paths[path] = isDav(route)
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

const OTHERS = "x-oai-additionalOperations";

function isDav({ method }: Route): boolean {
  return DAV_METHODS.some((each) => each === method);
}

/** Converts `/rest/auth/:server` to `/rest/auth/{server}`. */
function templateOf(path: string): string {
  return path.replace(/[:*](\w+)/g, "{$1}");
}

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
  return {
    description: STATUS_MEANINGS[status] ?? "Error",
    content: {
      "application/json": { schema: own === undefined ? error : { anyOf: [contentOf(own).schema, error] } },
    },
  };
}

function contentOf(what: keyof typeof SCHEMAS | "text" | "bytes"): Json {
  if (what === "bytes") return { schema: { type: "string", format: "binary" } };
  return { schema: what === "text" ? { type: "string" } : { $ref: `#/components/schemas/${what}` } };
}
