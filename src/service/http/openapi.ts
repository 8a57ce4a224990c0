import { STATUS_CODES } from "node:http";
import { ERRORS } from "../../model/errors.ts";
import { VERSION } from "../version.ts";
import description from "./openapi.json" with { type: "json" };
import { DAV_METHODS, isHealth, type Route } from "./router.ts";

type Json = Readonly<Record<string, unknown>>;

/** Operation in `openapi.json`, without the members that {@link completed} derives from its route. */
interface Operation {
  readonly operationId: string;
  readonly like?: string; // ID of the operation that supplies all members that are absent here
  readonly parameters?: readonly Json[];
  readonly responses?: Json;
  /** Statuses of errors beyond those of {@link errorsOf}. */
  readonly errors?: readonly number[];
}

const PATHS: Readonly<Record<string, Readonly<Record<string, Operation>>>> = description.paths;
const OPERATIONS = new Map(
  Object.values(PATHS).flatMap((methods) => Object.values(methods)).map((each) => [each.operationId, each]),
);

/** Member for the methods of WebDAV, which OpenAPI supports from 3.2 on. */
const OTHERS = "x-oai-additionalOperations";

/** Returns the OpenAPI 3.1 description of the routes; pages have none. @param base Without trailing slash. */
export function openApiDocument(routes: readonly Route[], base: string): Json {
  const paths: Record<string, Record<string, Json>> = {};
  for (const route of routes) {
    const path = route.path.replace(/[:*](\w+)/g, "{$1}");
    const isOther = DAV_METHODS.some((each) => each === route.method);
    const method = isOther ? route.method : route.method.toLowerCase();
    const operation = PATHS[path]?.[method];
    if (operation === undefined) continue;
    const described = { [method]: completed(operation, route) };
    paths[path] = {
      ...paths[path],
      ...isOther ? { [OTHERS]: { ...paths[path]?.[OTHERS], ...described } } : described,
    };
  }
  const { info, components } = description;
  return {
    ...description,
    info: { ...info, version: VERSION },
    servers: [{ url: base }],
    paths,
    components: { ...components, responses: { ...components.responses, ...errorResponses() } },
  };
}

/** Adds members that follow from the route: tag, credentials, placeholders of the path, and errors of all requests. */
function completed({ like, ...own }: Operation, route: Route): Json {
  const { parameters = [], responses, errors = [], ...operation } = { ...OPERATIONS.get(like ?? ""), ...own };
  const isOpen = route.service === "open";
  const placeholders = Array.from(route.path.matchAll(/[:*](\w+)/g), ([, name]) => (
    { name, in: "path", required: true, schema: { type: "string", minLength: 1 } }
  ));
  const statuses = [...errorsOf(route), ...errors];
  const described = statuses.map((status) => [status, { $ref: `#/components/responses/${status}` }]);
  return {
    ...operation,
    tags: [isOpen ? "service" : route.service],
    security: isOpen ? [] : [{}, { basic: [] }, { bearer: [] }],
    parameters: [...placeholders, ...parameters],
    responses: { ...Object.fromEntries(described), ...responses },
  };
}

/** Returns the statuses of errors that any request of a route can have: of the edge, of credentials, bans and media types. */
function errorsOf({ path, service, consumes, produces }: Route): number[] {
  return [
    ...[400, 408, 413, 431, 500, 503],
    ...(service === "open" ? [] : [401, 403]),
    ...(isHealth(path) ? [] : [429]),
    ...(consumes === undefined ? [] : [415]),
    ...(produces === undefined ? [] : [406]),
  ];
}

function errorResponses(): Json {
  const byStatus = Object.groupBy(Object.entries(ERRORS), ([, { status }]) => status);
  return Object.fromEntries(
    Object.entries(byStatus).map(([status, rows = []]) => [status, {
      description: `${STATUS_CODES[status]}: ${rows.map(([code]) => code).join(", ")}`,
      content: { "application/json": { schema: { $ref: "#/components/schemas/Error" } } },
    }]),
  );
}
