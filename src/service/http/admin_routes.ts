import type { AdminParts } from "../../resource/admin/administration.ts";
import { emptyResponse } from "../../resource/text_response.ts";
import { jsonAnswer } from "./openapi/operation.ts";
import { text } from "./openapi/schema.ts";
import { JSON_TYPE, type PublishedRoute } from "./router.ts";

const resource = () => import("../../resource/admin/administration.ts");

/** What users with the role `admin` can do (rest-api.md 1.14). */
export function adminRoutes(parts: AdminParts): PublishedRoute[] {
  const common = { service: "admin", produces: JSON_TYPE } as const;
  return [
    {
      ...common,
      produces: [...JSON_TYPE, "text/html"],
      method: "GET",
      path: "/rest/admin",
      doc: {
        id: "describeAdministration",
        summary: "State of the service, and the actions there are; browsers are led to the page",
        query: { fields: text("Members that are wanted, with commas between; without it all") },
        answers: {
          200: jsonAnswer("State and actions", "Administration"),
          303: { description: "For browsers", headers: { Location: "The page of administrators" } },
        },
      },
      answer: async (call) => (await resource()).describeAdministration(call, parts),
      page: (call) => emptyResponse({ status: 303, headers: { Location: `${call.root}admin` } }),
    },
    {
      ...common,
      method: "POST",
      path: "/rest/admin/actions/:action",
      consumes: "application/json",
      audit: "admin",
      doc: {
        id: "carryOut",
        summary: "Carry out one of the actions: ShowUserInfo, ModifyShare, IssueAPIToken",
        details: "What cannot be carried out is an answer, too: success is then false, and message says why.",
        body: "AdminRequest",
        answers: { 200: jsonAnswer("What came of it", "AdminResult") },
        refusals: [404],
      },
      answer: async (call) => (await resource()).carryOut(call, parts),
    },
  ];
}
