import type { AttributeSourceKind } from "../attributes/attribute_source_kind.ts";
import { ATTRIBUTE_SOURCES } from "../attributes/kinds.ts";
import type { AuthenticatorKind } from "../authentication/authenticator_kind.ts";
import { AUTHENTICATORS } from "../authentication/kinds.ts";
import { type Kinds, type OfKind, withKinds } from "../config/kind.ts";
import type { ServiceConfig } from "../config/service_config.ts";

/** All kinds of authenticators and attribute sources. */
export type ServiceKinds = Kinds<AuthenticatorKind, AttributeSourceKind>;

/** Default kinds; code receives them as a parameter. */
export const KINDS: ServiceKinds = { authenticators: AUTHENTICATORS, sources: ATTRIBUTE_SOURCES };

interface Configured {
  readonly authentication: Pick<ServiceConfig["authentication"], "authenticators">;
  readonly attributes: Pick<ServiceConfig["attributes"], "sources">;
  readonly dynamicAttributes: Pick<ServiceConfig["dynamicAttributes"], "sources">;
}

/** Returns all configured kinds, including sources within chains. */
export async function configuredKinds(
  { authentication, attributes, dynamicAttributes }: Configured,
  { authenticators, sources }: ServiceKinds,
): Promise<readonly OfKind<AuthenticatorKind | AttributeSourceKind>[]> {
  return [
    ...await withKinds(authentication.authenticators, authenticators),
    ...await withKinds([...attributes.sources, ...dynamicAttributes.sources], sources),
  ];
}
