import assert from "node:assert/strict";
import { X509Certificate } from "node:crypto";
import { InvalidFile } from "../../../src/model/diagnostic.ts";
import {
  readGatewayCertificate,
  readTrustedIssuer,
} from "../../../src/service/assembly/certificate_files.ts";
import { createAuthority } from "../../pki/authority.ts";

const { certificate, key } = createAuthority({ subject: "CN=Friend,O=Site-B,C=DE" });
const der = new X509Certificate(certificate).raw;

const READERS = {
  "container.security.rest.jwt.trustedIssuerCert": readTrustedIssuer,
  "container.security.gateway.certificate": readGatewayCertificate,
};

async function withFile(content: string | Uint8Array, use: (file: string) => Promise<void>): Promise<void> {
  const file = await Deno.makeTempFile();
  try {
    await Deno.writeFile(file, typeof content === "string" ? new TextEncoder().encode(content) : content);
    await use(file);
  } finally {
    await Deno.remove(file);
  }
}

for (const [setting, read] of Object.entries(READERS)) {
  for (
    const [form, content] of [
      ["PEM", certificate],
      ["PEM with text and key around it", `Subject: x\n${key}${certificate}`],
      ["DER", der],
    ] as const
  ) {
    Deno.test(`${read.name}() reads ${form}`, async () => {
      await withFile(content, async (file) => assert.equal(await read(file), certificate));
    });
  }

  for (
    const [what, content] of [
      ["an empty file", ""],
      ["a key", key],
      ["half a certificate", certificate.slice(0, 200)],
      ["a damaged certificate", certificate.replace(/MII.{20}/, "MIIAAAAAAAAAAAAAAAAAAAA")],
      ["truncated DER", der.subarray(0, 100)],
    ] as const
  ) {
    Deno.test(`${read.name}() refuses ${what}, and names file and setting`, async () => {
      await withFile(content, async (file) => {
        await assert.rejects(read(file), (error) => {
          assert(error instanceof InvalidFile);
          assert(error.message.startsWith(`${file}: ${setting}: expected`), error.message);
          return true;
        });
      });
    });
  }

  Deno.test(`${read.name}() names the missing file and its setting`, async () => {
    await assert.rejects(read("/no/such/file.pem"), {
      message: /^\/no\/such\/file\.pem: container\..*: cannot/,
    });
  });
}

Deno.test("readTrustedIssuer() refuses a key that cannot sign tokens", async () => {
  const weak = createAuthority({ subject: "CN=Weak", keyType: "rsa-1024" });
  await withFile(weak.certificate, async (file) => {
    await assert.rejects(readTrustedIssuer(file), /the key of CN=Weak signs no tokens/);
  });
});
