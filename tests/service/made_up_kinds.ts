import { integer, path, text, url } from "../../src/config/key.ts";
import { attributeSourceKind } from "../../src/attributes/attribute_source_kind.ts";
import { authenticatorKind } from "../../src/authentication/authenticator_kind.ts";
import { attributeValues } from "../../src/model/attributes.ts";
import { probeWithoutCredentials } from "../../src/outgoing/probed_kind.ts";
import { gate, gateSource } from "../fixtures/gate_kind/kind.ts";
import { KINDS, type ServiceKinds } from "../../src/service/kinds.ts";

/** Made-up kind of authenticator: a door with a list of badges. */
const badge = authenticatorKind({
  title: "BadgeAuthenticator: badges of a door (BADGE)",
  keys: {
    list: path({ help: "Badges that are let in, one a line" }),
    door: url({ help: "Door that knows who went through it", schemes: ["https"] }),
    floors: integer({ help: "How many floors there are", default: 9, min: 1, unit: "floors" }),
  },
  ignored: { lift: "everybody takes the stairs" },
  read(values, { reader, prefix }) {
    reader.expectFile(`${prefix}list`, values.list);
    return values;
  },
  files: ({ list }) => [list],
  remotes: ({ door }) => [{
    address: door,
    label: "Door",
    showCertificate: false,
    probe: (parts) =>
      probeWithoutCredentials({ address: door, showCertificate: false }, parts, (status) => status === 401),
  }],
  inspect: async ({ list, floors }) => {
    const badges = (await Deno.readTextFile(list)).trim().split("\n");
    const diagnostics = badges.length > floors
      ? [{ severity: "warning" as const, file: list, expected: `at most ${floors} badges` }]
      : [];
    return { diagnostics, users: badges.map((dn) => ({ dn, file: list })) };
  },
  async create({ name, list }) {
    const badges = new Set((await Deno.readTextFile(list)).trim().split("\n"));
    return {
      name,
      challenges: ["Basic"],
      authenticate({ authorization }) {
        if (authorization.kind !== "basic") return Promise.resolve({ kind: "skipped" });
        const dn = authorization.password.reveal();
        return Promise.resolve(
          badges.has(dn)
            ? { kind: "accepted", identity: { dn, method: "BADGE", via: name } }
            : { kind: "refused", reason: "no such badge" },
        );
      },
      status: () => ({ remote: "door", up: true, since: 1 }),
      close() {},
    };
  },
});

/** Made-up kind of attribute source: everybody has the same rights. */
const everybody = attributeSourceKind({
  title: "EverybodySource: one account for everybody (EVERYBODY)",
  keys: { account: text({ help: "Account that everybody uses" }) },
  read: (values) => values,
  create: ({ name, account }) =>
    Promise.resolve({
      name,
      attributesOf: () =>
        Promise.resolve({
          standard: new Map([
            ["xlogin", attributeValues("xlogin", [account])],
            ["role", attributeValues("role", ["user"])],
          ]),
          extra: new Map(),
        }),
      close() {},
    }),
});

/** All kinds of the service, plus the made-up kinds. */
export const MORE_KINDS: ServiceKinds = {
  authenticators: {
    ...KINDS.authenticators,
    kinds: [
      ...KINDS.authenticators.kinds,
      { classes: { BadgeAuthenticator: { names: ["BADGE"] } }, load: () => Promise.resolve(badge) },
      { classes: { GateAuthenticator: { names: ["GATE"] } }, load: () => Promise.resolve(gate) },
    ],
  },
  destinations: KINDS.destinations,
  sources: {
    ...KINDS.sources,
    kinds: [
      ...KINDS.sources.kinds,
      { classes: { EverybodySource: { names: ["EVERYBODY"] } }, load: () => Promise.resolve(everybody) },
      { classes: { GateSource: { names: ["GATE"] } }, load: () => Promise.resolve(gateSource) },
    ],
  },
};
