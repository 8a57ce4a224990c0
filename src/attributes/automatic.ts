import { type AttributeSet, attributeValues, type StandardAttribute } from "../model/attributes.ts";
import type { Identity } from "../model/identity.ts";
import type { AttributeSource } from "./attribute_source.ts";

/** Name of the source where the configuration does not list it. */
export const AUTOMATIC = "AUTO";

/**
 * What authentication itself found out: account, groups, and the role, which is `user` for whoever has an account
 * (authentication.md 7.1). Variant B configures it by name, as class `PAMAttributeSource`; PAM is not asked (7.2).
 */
export class AutomaticSource implements AttributeSource {
  constructor(readonly name: string = AUTOMATIC) {}

  attributesOf({ uid, role, groups }: Identity): Promise<AttributeSet> {
    const standard = new Map<StandardAttribute, ReturnType<typeof attributeValues>>();
    const effectiveRole = role ?? (uid === undefined ? undefined : "user");
    if (effectiveRole !== undefined) standard.set("role", attributeValues("role", [effectiveRole]));
    if (uid !== undefined) standard.set("xlogin", attributeValues("xlogin", [uid]));
    if (groups !== undefined && groups.length > 0) standard.set("group", attributeValues("group", groups));
    return Promise.resolve({ standard, extra: new Map() });
  }

  close(): void {}
}
