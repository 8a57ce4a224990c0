import type { UserAttributes } from "../../src/attributes/user_attributes.ts";
import type { GroupStatus } from "../../src/daemon/daemon_group.ts";
import { SILENT } from "../../src/logging/logger.ts";
import { HeaderList } from "../../src/model/http_message.ts";
import type { Call } from "../../src/resource/call.ts";
import { requestedServer, type ServerFacts } from "../../src/resource/server_facts.ts";
import type { ServiceFacts } from "../../src/resource/service_section.ts";

const NOBODY = () => Promise.reject(new TypeError("nobody is asked"));

/** Returns a server with two instances. */
export function server(
  name: string,
  { up, sharing = false }: { up: boolean; sharing?: boolean },
): ServerFacts {
  const instances = [1, 2].map((instance) => ({ instance, address: `h${instance}:1`, up }));
  const status: GroupStatus = {
    usable: up,
    worthTrying: up,
    unchecked: false,
    total: 2,
    available: up ? 2 : 0,
    instances,
  };
  return {
    name,
    description: `Server ${name}`,
    sharing,
    daemons: {
      name,
      description: "",
      size: 2,
      status: () => status,
      openSession: NOBODY,
      userInfo: NOBODY,
      close: () => Promise.resolve(),
    },
    reservations: { limitFor: () => 0, descriptionsFor: () => [], list: () => [] },
  };
}

export const FACTS: ServiceFacts = {
  siteName: "Site",
  version: "1.2.3",
  upSince: 0,
  credential: () => undefined,
  trustedCAs: () => [],
  trustedSAMLIssuers: () => [],
  externalConnections: () => ({}),
  methods: new Map([["SSHKEY", "SSH key"]]),
  cluster: undefined,
  clock: () => Date.UTC(2026, 0, 5),
};

export const serversOf = (...all: readonly ServerFacts[]) => new Map(all.map((one) => [one.name, one]));

export const USER: UserAttributes = {
  role: "anonymous",
  availableRoles: [],
  availableUids: [],
  availableGroups: [],
  supplementaryGroups: [],
  extra: new Map(),
};

/** Returns a request of an anonymous caller. */
export function call(segment?: string, servers: ReadonlyMap<string, ServerFacts> = new Map()): Call {
  return {
    request: {
      method: "GET",
      path: "/rest/auth",
      query: "",
      headers: new HeaderList([]),
      client: { address: "192.0.2.1" },
      body: null,
    },
    params: new Map(),
    ...(segment !== undefined && { server: requestedServer(segment, servers) }),
    query: new URLSearchParams(),
    caller: { kind: "anonymous" },
    user: USER,
    clientAddress: "192.0.2.1",
    base: "https://h",
    root: "../",
    menu: new Set(),
    admit: () => {},
    userNow: () => Promise.resolve(undefined),
    recognise: () => Promise.reject(new Error("nobody shows other credentials")),
    audit: () => {},
    requestId: "1",
    log: SILENT,
    signal: new AbortController().signal,
  };
}
