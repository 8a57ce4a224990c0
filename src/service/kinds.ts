import type { AttributeSourceKind } from "../attributes/attribute_source_kind.ts";
import { ATTRIBUTE_SOURCES } from "../attributes/kinds.ts";
import type { AuthenticatorKind } from "../authentication/authenticator_kind.ts";
import { AUTHENTICATORS } from "../authentication/kinds.ts";
import { type Kinds, type OfKind, withKinds } from "../config/kind.ts";
import type { ServiceConfig } from "../config/service_config.ts";
import type { DestinationKind } from "../notify/destination.ts";
import { DESTINATIONS } from "../notify/kinds.ts";

/** All kinds of authenticators, attribute sources and destinations of notifications. */
export type ServiceKinds = Kinds<AuthenticatorKind, AttributeSourceKind, DestinationKind>;

/** Default kinds; other code receives them as a parameter. */
export const KINDS: ServiceKinds = {
  authenticators: AUTHENTICATORS,
  sources: ATTRIBUTE_SOURCES,
  destinations: DESTINATIONS,
};

interface Configured {
  readonly authentication: Pick<ServiceConfig["authentication"], "authenticators">;
  readonly attributes: Pick<ServiceConfig["attributes"], "sources">;
  readonly dynamicAttributes: Pick<ServiceConfig["dynamicAttributes"], "sources">;
  readonly notifications?: ServiceConfig["notifications"];
}

/** Returns all configured kinds, including sources within chains. */
export async function configuredKinds(
  { authentication, attributes, dynamicAttributes, notifications = [] }: Configured,
  { authenticators, sources, destinations }: ServiceKinds,
): Promise<readonly OfKind<AuthenticatorKind | AttributeSourceKind | DestinationKind>[]> {
  return [
    ...await withKinds(authentication.authenticators, authenticators),
    ...await withKinds([...attributes.sources, ...dynamicAttributes.sources], sources),
    ...await withKinds(notifications, destinations),
  ];
}
