import { ATTRIBUTES, DYNAMIC_ATTRIBUTES, SOURCE } from "../../src/config/keys/attribute_keys.ts";
import { AUTHENTICATION, METHOD } from "../../src/config/keys/authentication_keys.ts";
import { CLIENT } from "../../src/config/keys/client_keys.ts";
import {
  AUDIT,
  CONTAINER,
  CONTROL,
  FEATURES,
  LOGGING,
  METRICS,
} from "../../src/config/keys/container_keys.ts";
import { HTTP_SERVER } from "../../src/config/keys/http_server_keys.ts";
import {
  BROWSERS,
  GATEWAY,
  ISSUED_TOKENS,
  SECURITY,
  THROTTLING,
} from "../../src/config/keys/security_keys.ts";
import {
  AUTHSERVICE,
  GROUPED_SERVER,
  SERVER_INSTANCE,
  SINGLE_SERVER,
} from "../../src/config/keys/server_keys.ts";
import { PERSISTENCE, POSTGRES, SHARE } from "../../src/config/keys/sharing_keys.ts";
import {
  CLIENT_TRUSTSTORE,
  CREDENTIAL,
  PROVIDER_TRUSTSTORE,
  SERVER_TRUSTSTORE,
  TRUSTED_ASSERTION_ISSUERS,
  TRUSTSTORE,
} from "../../src/config/keys/tls_keys.ts";
import { allKinds, type Kinds } from "../../src/config/kind.ts";
import { sectionOf } from "../../src/config/read_kinds.ts";
import type { Section } from "../../src/config/key.ts";

/** Returns all sections in the order of the manual. */
export async function sections(
  { authenticators, sources, destinations }: Kinds,
): Promise<readonly Section[]> {
  return [
    CONTAINER,
    FEATURES,
    HTTP_SERVER,
    CREDENTIAL,
    TRUSTSTORE,
    CLIENT_TRUSTSTORE,
    PROVIDER_TRUSTSTORE,
    AUTHSERVICE,
    SINGLE_SERVER,
    GROUPED_SERVER,
    SERVER_INSTANCE,
    SERVER_TRUSTSTORE,
    AUTHENTICATION,
    ...(await allKinds(authenticators)).map((kind) => sectionOf(METHOD, kind)),
    TRUSTED_ASSERTION_ISSUERS,
    ATTRIBUTES,
    ...(await allKinds(sources)).map((kind) => sectionOf(SOURCE, kind)),
    DYNAMIC_ATTRIBUTES,
    SECURITY,
    GATEWAY,
    ISSUED_TOKENS,
    BROWSERS,
    THROTTLING,
    SHARE,
    PERSISTENCE,
    POSTGRES,
    ...(await Promise.all(destinations.kinds.map(async ({ prefix = "", load }): Promise<Section> => {
      const { title, keys } = await load();
      return { prefix, title, keys };
    }))),
    CLIENT,
    LOGGING,
    AUDIT,
    CONTROL,
    METRICS,
  ];
}
