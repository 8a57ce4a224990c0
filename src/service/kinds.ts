import type { AttributeSourceKind } from "../attributes/attribute_source_kind.ts";
import { ATTRIBUTE_SOURCES } from "../attributes/kinds.ts";
import type { AuthenticatorKind } from "../authentication/authenticator_kind.ts";
import { AUTHENTICATORS } from "../authentication/kinds.ts";
import { type Kinds, type OfKind, withKinds } from "../config/kind.ts";
import type { ServiceConfig } from "../config/service_config.ts";

/** Every kind of what a service is made of, with all that it can do. */
export type ServiceKinds = Kinds<AuthenticatorKind, AttributeSourceKind>;

/** The kinds there are. Whoever walks over them is handed this list. */
export const KINDS: ServiceKinds = { authenticators: AUTHENTICATORS, sources: ATTRIBUTE_SOURCES };

/** What of a configuration is of a kind. */
interface Configured {
  readonly authentication: Pick<ServiceConfig["authentication"], "authenticators">;
  readonly attributes: Pick<ServiceConfig["attributes"], "sources">;
  readonly dynamicAttributes: Pick<ServiceConfig["dynamicAttributes"], "sources">;
}

/** Everything configured that is of a kind, sources within chains included. */
export function configuredKinds(
  { authentication, attributes, dynamicAttributes }: Configured,
  { authenticators, sources }: ServiceKinds,
): readonly OfKind<AuthenticatorKind | AttributeSourceKind>[] {
  return [
    ...withKinds(authentication.authenticators, authenticators),
    ...withKinds([...attributes.sources, ...dynamicAttributes.sources], sources),
  ];
}
