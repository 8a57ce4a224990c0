import { flag, type Infer, port, text, url } from "../../config/key.ts";
import { OPTIONAL } from "../../config/keys/attribute_keys.ts";
import { type ConfigRead, type Place, requireHttps } from "../../config/kind.ts";
import { NEVER, type ProbeAnswer, type ProbeParts } from "../../outgoing/probed_kind.ts";
import { attributeSourceKind } from "../attribute_source_kind.ts";

const KEYS = {
  host: url({
    name: "xuudbHost",
    help: "URL of the XUUDB without port",
    schemes: ["https", "http"],
    default: "https://localhost",
  }),
  allowPlainHttp: flag({
    help: "Allow an http:// URL of another machine; user names then travel unencrypted",
    default: false,
    added: true,
  }),
  port: port({ name: "xuudbPort", help: "Port of the XUUDB", default: 34_463 }),
  gcid: text({ name: "xuudbGCID", help: "Grid component ID of this site in the XUUDB" }),
  cache: flag({ name: "xuudbCache", help: "Cache answers for 10 seconds", default: true }),
  optional: OPTIONAL,
};

type XuudbConfig = ConfigRead<typeof read>;

function read({ host, port, allowPlainHttp, ...rest }: Infer<typeof KEYS>, place: Place) {
  const { reader, prefix } = place;
  requireHttps(place, "xuudbHost", host, allowPlainHttp);
  const { protocol, hostname, port: portInHost, pathname, search } = new URL(host);
  if (portInHost !== "" || pathname !== "/" || search !== "") {
    reader.error(`${prefix}xuudbHost`, "expected https:// and a host, the port is in xuudbPort", host);
  }
  return { ...rest, address: `${protocol}//${hostname}:${port}` };
}

async function create(
  { kind, name, address, gcid, cache }: XuudbConfig,
  { outgoing, clock, log }: Omit<ProbeParts, "externalUrl">,
) {
  const { XuudbSource } = await import("./xuudb_source.ts");
  const form = kind === "XUUDBJSONAttributeSource" ? "json" : "soap";
  return new XuudbSource({ name, form, address, gcid, cache, http: outgoing.http(), clock, log });
}

const NOBODY = { dn: "CN=authserver check", method: "CHECK", via: "CHECK" };

async function probe(config: XuudbConfig, parts: ProbeParts): Promise<ProbeAnswer> {
  const source = await create(config, parts);
  const { standard } = await source.attributesOf(NOBODY, NEVER);
  source.close();
  return standard.size === 0
    ? { ok: true, found: `answers for ${config.gcid}` }
    : { ok: false, found: `knows a user ${NOBODY.dn}, whom there should not be` };
}

/** XUUDB (credentials.md 7.6) by SOAP and JSON. */
export const xuudb = attributeSourceKind({
  title: "XUUDBAttributeSource (XUUDB) and XUUDBJSONAttributeSource",
  keys: KEYS,
  read,
  remotes: (config) => [{
    address: config.address,
    label: "XUUDB",
    probe: (parts) => probe(config, parts),
  }],
  isOptional: ({ optional }) => optional,
  create,
});
