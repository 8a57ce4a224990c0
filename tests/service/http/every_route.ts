import { routesOf } from "../../../src/service/http/routes.ts";

type Parts = Parameters<typeof routesOf>[0];

/** Parts with every feature, to create routes; no route answers requests with them. */
export const PARTS: Parts = JSON.parse(JSON.stringify({
  features: { auth: true, share: true, access: true, admin: true, files: true },
  facts: { siteName: "SITE" },
  accepted: [],
  issuers: [{}],
  servers: {},
  sharing: {},
  files: {},
  certificates: {},
  devices: {},
  signIn: { ways: { providers: { size: 1 } } },
}));

/** Every route that a service can have. */
export const ROUTES = await routesOf(PARTS);
