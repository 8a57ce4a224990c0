import { type AttributeSet, attributeValues, type StandardAttribute } from "../model/attributes.ts";
import { decidedRole, type Identity } from "../model/identity.ts";
import type { AttributeSource } from "./attribute_source.ts";

/** Default name. */
export const AUTOMATIC = "AUTO";

/** Account, groups and role from authentication (authentication.md 7.1), alias `PAMAttributeSource` (7.2). */
export class AutomaticSource implements AttributeSource {
  constructor(readonly name: string = AUTOMATIC) {}

  attributesOf(identity: Identity): Promise<AttributeSet> {
    const { uid, groups } = identity;
    const standard = new Map<StandardAttribute, ReturnType<typeof attributeValues>>();
    const role = decidedRole(identity);
    if (role !== undefined) standard.set("role", attributeValues("role", [role]));
    if (uid !== undefined) standard.set("xlogin", attributeValues("xlogin", [uid]));
    if (groups !== undefined && groups.length > 0) standard.set("group", attributeValues("group", groups));
    return Promise.resolve({ standard, extra: new Map() });
  }

  close(): void {}
}
