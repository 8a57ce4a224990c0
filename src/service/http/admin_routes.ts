import { type AdminParts, carryOut, describeAdministration } from "../../resource/admin/administration.ts";
import { text } from "./openapi/schema.ts";
import type { PublishedRoute } from "./router.ts";

const JSON_TYPE = ["application/json"] as const;

/** What users with the role `admin` can do (rest-api.md 1.14). */
export function adminRoutes(parts: AdminParts): PublishedRoute[] {
  const common = { service: "admin", produces: JSON_TYPE } as const;
  return [
    {
      ...common,
      method: "GET",
      path: "/rest/admin",
      doc: {
        id: "describeAdministration",
        summary: "State of the service, and the actions there are",
        query: { fields: text("Members that are wanted, with commas between; without it all") },
        answers: {
          200: { description: "State and actions", content: { "application/json": "Administration" } },
        },
      },
      answer: (call) => describeAdministration(call, parts),
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
        answers: { 200: { description: "What came of it", content: { "application/json": "AdminResult" } } },
        refusals: [404],
      },
      answer: (call) => carryOut(call, parts),
    },
  ];
}
