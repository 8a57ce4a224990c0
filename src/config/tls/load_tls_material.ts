import type { KeyObject, X509Certificate } from "node:crypto";
import { attempt } from "../../model/attempt.ts";
import { type Diagnostic, isError, readableAt } from "../../model/diagnostic.ts";
import type { TlsMaterial, Trust } from "../../model/tls_material.ts";
import { reason } from "../properties.ts";
import type { CredentialConfig, Origin, ServiceConfig, TruststoreConfig } from "../service_config.ts";
import {
  algorithmsOf,
  certificateFacts,
  describeValidity,
  permits,
  USABLE_KEYS,
  usableKeyOf,
  validityOf,
} from "../../model/trust/certificate_facts.ts";
import { certificatesIn, isPem, subjectOf, UnusableStore } from "./certificates.ts";
import { loadTruststore } from "./truststore.ts";
import { readRegularFile } from "../../model/regular_file.ts";
import { isJavaKeyStore, openKeyStore, refuseJavaKeyStore } from "./key_store.ts";
import { hasPrivateKey, privateKeyOfDer, privateKeyOfPem } from "./private_key.ts";

/** Loads certificate, key and anchors: PKCS#12, PEM or DER. @param now Milliseconds since the epoch. */
export async function loadTlsMaterial(
  { credential, truststore, clientTruststore, providerTruststore, servers = [] }: Partial<ServiceConfig>,
  now: number,
) {
  const own = credential === undefined ? undefined : await loadCredential(credential, now);
  const load = async (store: TruststoreConfig | undefined) =>
    store === undefined ? undefined : await loadTruststore(store, now);
  const [trusted, clients, providers] = await Promise.all(
    [truststore, clientTruststore, providerTruststore].map(load),
  );
  const daemons = await Promise.all(
    servers.map(async ({ name, truststore }) => [name, await load(truststore)] as const),
  );
  const stores = [trusted, clients, providers, ...daemons.map(([, store]) => store)];
  const diagnostics = [...own?.diagnostics ?? [], ...stores.flatMap((store) => store?.diagnostics ?? [])];
  const files = {
    credential: own?.files ?? [],
    truststore: trusted?.files ?? [],
    clients: clients?.files ?? [],
    providers: providers?.files ?? [],
    daemons: daemons.map(([, store]) => store?.files ?? []), // by server
  };
  if (own?.credential === undefined || diagnostics.some(isError)) {
    return { material: undefined, diagnostics, files };
  }
  const { certificates, key } = own.credential;
  const material: TlsMaterial = {
    certificate: certificates.map((certificate) => certificate.toString().trimEnd() + "\n").join(""),
    key: key.export({ type: "pkcs8", format: "pem" }).toString(),
    anchors: trusted?.anchors ?? [],
    clients: clients && trustIn(clients),
    providerAnchors: providers?.anchors,
    daemons: Object.fromEntries(
      daemons.flatMap(([name, store]) => store === undefined ? [] : [[name, trustIn(store)] as const]),
    ),
    revocation: trusted?.revocation,
  };
  return { material, diagnostics, files };
}

const trustIn = ({ anchors, revocation }: Trust): Trust => ({ anchors, revocation });

async function loadCredential(config: CredentialConfig, now: number) {
  const { path, keyPath, origin, keyOrigin } = config;
  const files = keyPath === undefined ? [path] : [path, keyPath];
  const diagnostics: Diagnostic[] = [];
  const report = (severity: Diagnostic["severity"], expected: string, fix?: string, at = origin) => {
    diagnostics.push({ severity, ...at, expected, fix });
  };
  const read = (file: string, at: Origin) =>
    readRegularFile(file).catch((error): undefined => {
      report("error", `cannot read ${file}: ${reason(error)}`, readableAt(file), at);
    });
  const certificate = await read(path, origin);
  const key = keyPath === undefined ? undefined : await read(keyPath, keyOrigin);
  if (certificate === undefined || diagnostics.length > 0) return { diagnostics, files };
  const secret = keyPath ?? path;
  const { mode } = await Deno.stat(secret);
  if (mode !== null && (mode & 0o004) !== 0) {
    const fix = `chmod o-r ${secret}`;
    report(
      "warning",
      `every user of this machine can read the private key, expected: ${fix}`,
      fix,
      keyOrigin,
    );
  }
  try {
    const credential = readCredentialFiles(config, { certificate, key });
    const [own] = credential.certificates;
    if (own === undefined) throw new UnusableStore("expected a certificate");
    const publicKey = usableKeyOf(own); // for TLS, and to verify issued tokens
    if (!publicKey || !algorithmsOf(publicKey).length) throw new UnusableStore(`expected ${USABLE_KEYS}`);
    const { kind, text } = describeValidity(validityOf(own), now);
    if (kind !== "valid") {
      report(
        kind === "invalid" ? "error" : "warning",
        `the certificate of ${subjectOf(own)} in ${path} ${text}`,
        `renew ${path}, then authserver reload; see: date; openssl x509 -noout -dates -in ${path}`,
      );
    }
    for (const [purpose, peers] of [["clientAuth", "daemons"], ["serverAuth", "clients"]] as const) {
      if (attempt(() => permits(certificateFacts(own), purpose), Error, () => true)) continue;
      const lack = `the extended key usage of ${path} lacks ${purpose}, so ${peers} refuse it`;
      report("warning", lack, "use a certificate for serverAuth and clientAuth");
    }
    if (config.keyAlias !== undefined) {
      report("warning", "keyAlias is ignored: the only key of the key store is used");
    }
    return { credential, diagnostics, files };
  } catch (error) {
    if (!(error instanceof UnusableStore)) throw error;
    report("error", `${files.join(", ")}: ${error.message}`);
    return { diagnostics, files };
  }
}

interface Credential {
  readonly key: KeyObject;
  readonly certificates: readonly X509Certificate[]; // leaf first
}

/** Reads certificate and key, by content (rest-api.md 3.5 goes by name). @throws {UnusableStore} */
function readCredentialFiles(
  { path, format, password, keyPassword }: CredentialConfig,
  files: { readonly certificate: Uint8Array; readonly key: Uint8Array | undefined },
): Credential {
  const found = files.key === undefined
    ? readOne(path, files.certificate, password, keyPassword, format)
    : { certificates: certificatesIn(files.certificate), key: readKey(files.key, password) };
  const { key, certificates } = found;
  const own = certificates.find((certificate) => certificate.checkPrivateKey(key));
  if (own === undefined) {
    throw new UnusableStore("expected the certificate of the private key; they do not belong together");
  }
  return { key, certificates: [own, ...certificates.filter((certificate) => certificate !== own)] };
}

function readOne(
  path: string,
  bytes: Uint8Array,
  password: string | undefined,
  keyPassword: string | undefined,
  format: CredentialConfig["format"],
): Credential {
  if (isJavaKeyStore(bytes) || format === "jks") return refuseJavaKeyStore(path);
  if (isPem(bytes)) {
    const text = new TextDecoder().decode(bytes);
    if (!hasPrivateKey(text)) {
      throw new UnusableStore(
        "expected a private key in the same file, or container.security.credential.keyPath too",
      );
    }
    return { certificates: certificatesIn(bytes), key: privateKeyOfPem(text, password) };
  }
  if (format === "der") {
    throw new UnusableStore(
      "expected container.security.credential.keyPath too, DER has one key or certificate a file",
    );
  }
  if (keyPassword !== undefined && keyPassword !== password) {
    throw new UnusableStore(
      "expected a key store whose key has the password of the store, without keyPassword",
    );
  }
  return openKeyStore(bytes, password);
}

function readKey(bytes: Uint8Array, password: string | undefined): KeyObject {
  return isPem(bytes)
    ? privateKeyOfPem(new TextDecoder().decode(bytes), password)
    : privateKeyOfDer(bytes, password);
}
