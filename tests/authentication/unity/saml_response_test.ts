import assert from "node:assert/strict";
import { X509Certificate } from "node:crypto";
import fc from "fast-check";
import { type Expectation, readSamlResponse } from "../../../src/authentication/unity/saml_response.ts";
import { InvalidResponse, NAME_ID_FORMATS } from "../../../src/authentication/unity/saml_names.ts";
import { anchoredSigners, pinnedSigners } from "../../../src/authentication/unity/unity.ts";
import {
  after,
  attributeAssertion,
  authnAssertion,
  certificateText,
  ENVELOPED,
  EXCLUSIVE,
  type ResponseOptions,
  RSA_SHA256,
  samlMessage,
  samlResponse,
  SHA1_OF_UNITY,
  signElement,
  soapEnvelope,
} from "../../identity_provider/saml_message.ts";
import { createAuthority } from "../../pki/authority.ts";

const NOW = Date.UTC(2027, 0, 15, 8);
const URL_OF_SERVICE = "https://auth.site-a.example:9000";
const SERVER_DN = "CN=auth.site-a.example,O=Site-A,C=DE";
const OPTIONS: ResponseOptions = { requestId: "_7c1e0f6a9d2b4e53", url: URL_OF_SERVICE, now: NOW };

const authority = createAuthority({ subject: "CN=Test CA" });
const unity = authority.issue({ subject: "CN=unity", keyType: "rsa-2048" });
const unityEc = authority.issue({ subject: "CN=unity ec" });
const unityEd = authority.issue({ subject: "CN=unity ed", keyType: "ed25519" });
const stranger = createAuthority({ subject: "CN=unity", keyType: "rsa-2048", ca: false });
const sibling = authority.issue({ subject: "CN=other service", keyType: "rsa-2048" });
const expired = authority.issue({ subject: "CN=unity", keyType: "rsa-2048", notAfter: new Date(NOW - 1000) });
const early = authority.issue({ subject: "CN=unity", keyType: "rsa-2048", notBefore: new Date(NOW + 1000) });
const ISSUERS = [unity, unityEc, unityEd, expired, early].map(({ certificate }) => certificate);

const EXPECTED: Expectation = {
  requestId: OPTIONS.requestId,
  identifiers: [URL_OF_SERVICE, "urn:our:other:name"],
  serverDn: SERVER_DN,
  nameIdFormat: NAME_ID_FORMATS.X509SubjectName,
  identityTemplate: undefined,
  now: NOW,
  strict: true,
  onSha1: () => {
    throw new InvalidResponse("no SHA-1 here");
  },
};

function read(message: string, expected: Partial<Expectation> = {}) {
  const now = expected.now ?? NOW;
  return readSamlResponse(message, { ...EXPECTED, ...expected }, {
    pinned: pinnedSigners(ISSUERS, now),
    anchored: anchoredSigners(ISSUERS, [authority.certificate], now),
  });
}

const make = (options: Partial<ResponseOptions> = {}, signer = unity) =>
  samlMessage({ ...OPTIONS, ...options }, signer);
const replace = (from: string | RegExp, to: string) => (text: string) => {
  const result = text.replace(from, () => to);
  assert.notEqual(result, text, `nothing to replace: ${from}`);
  return result;
};

// Accepted responses

Deno.test("readSamlResponse() returns name, attributes and expiry of a good response", async () => {
  const { dn, attributes, usableUntil } = await read(await make());
  assert.equal(dn, "CN=Ann Example,O=Site-A,C=DE");
  assert.deepEqual([...attributes], [["preferredUsername", ["ann"]], ["memberOf", ["hpc", "lab2"]]]);
  assert.equal(usableUntil, NOW + 600_000);
});

const RSA = "http://www.w3.org/2001/04/xmldsig-more#rsa-";
const ECDSA = "http://www.w3.org/2001/04/xmldsig-more#ecdsa-";
const ACCEPTED: [string, Partial<ResponseOptions>, typeof unity?][] = [
  ["RSA with SHA-512", {
    sign: (xml) =>
      signElement(xml, {
        signer: unity,
        method: `${RSA}sha512`,
        digest: "http://www.w3.org/2001/04/xmlenc#sha512",
      }),
  }],
  ["ECDSA with SHA-256", { sign: (xml) => signElement(xml, { signer: unityEc, method: `${ECDSA}sha256` }) }],
  ["ECDSA with SHA-384", { sign: (xml) => signElement(xml, { signer: unityEc, method: `${ECDSA}sha384` }) }],
  ["our certificate's subject as audience", {
    edit: replace(/<saml:Audience>[^<]*/, "<saml:Audience>cn=auth.site-a.example, o=Site-A, c=DE"),
  }],
  ["several audiences, one of them ours", {
    edit: replace("<saml:Audience>", "<saml:Audience>https://x.example</saml:Audience><saml:Audience>"),
  }],
  ["an additional identifier as recipient and audience", {
    edit: (xml) => xml.replaceAll(URL_OF_SERVICE, "urn:our:other:name"),
  }],
  ["no InResponseTo in the response", { tamper: replace(` InResponseTo="${OPTIONS.requestId}">`, ">") }],
  ["no issuer in the response", {
    tamper: replace(
      /(InResponseTo="[^"]*">)<saml:Issuer[^>]*>[^<]*<\/saml:Issuer>/,
      `InResponseTo="${OPTIONS.requestId}">`,
    ),
  }],
  ["blanks between elements of the envelope", { tamper: replace("<soap:Body>", "\n <soap:Body>\n  ") }],
  ["an XML declaration", { tamper: (xml) => `<?xml version="1.0" encoding="UTF-8"?>\n${xml}` }],
  ["an encrypted assertion beside it", { more: "<saml:EncryptedAssertion/>" }],
  ["no attributes", { attributes: {} }],
  ["a proxy restriction", {
    edit: replace("</saml:Conditions>", "<saml:ProxyRestriction/></saml:Conditions>"),
  }],
];
for (const [what, options] of ACCEPTED) {
  Deno.test(`readSamlResponse() accepts ${what}`, async () => {
    assert.equal((await read(await make(options))).dn, "CN=Ann Example,O=Site-A,C=DE");
  });
}

for (
  const [what, options] of [
    ["RSA with SHA-1", SHA1_OF_UNITY],
    ["a SHA-1 digest", { digest: SHA1_OF_UNITY.digest }],
  ] as const
) {
  Deno.test(`readSamlResponse() accepts ${what} where SHA-1 is allowed, and reports it`, async () => {
    const sign = (xml: string) => signElement(xml, { signer: unity, ...options });
    let reports = 0;
    const onSha1 = () => reports++;
    const { dn } = await read(await make({ sign }), { onSha1 });
    assert.deepEqual([dn, reports], ["CN=Ann Example,O=Site-A,C=DE", 1]);
    await assert.rejects(
      read(await make({ sign, tamper: replace("CN=Ann Example", "CN=Mallory") }), { onSha1 }),
      /does not verify/,
    );
  });
}

Deno.test("readSamlResponse() accepts a message whose response is signed too", async () => {
  const assertion = await signElement(authnAssertion(OPTIONS), { signer: unity });
  const response = samlResponse(OPTIONS, assertion);
  for (const signer of [unity, sibling]) {
    const message = soapEnvelope(await signElement(response, { signer, id: "_r5501" }));
    assert.equal((await read(message)).dn, "CN=Ann Example,O=Site-A,C=DE");
  }
});

Deno.test("readSamlResponse() adds attributes of a second assertion by the same signer", async () => {
  const more = await signElement(attributeAssertion(OPTIONS, { memberOf: ["bio"], x: ["y"] }), {
    signer: unity,
  });
  const { attributes } = await read(await make({ more }));
  assert.deepEqual([...attributes], [["preferredUsername", ["ann"]], ["memberOf", ["bio"]], ["x", ["y"]]]);
});

Deno.test("readSamlResponse() reports that it cannot use a signer's RSA key above 4096 bits", async () => {
  const file = new URL("../../model/fixtures/rsa_5120_host.", import.meta.url).pathname;
  const large = {
    certificate: await Deno.readTextFile(`${file}pem`),
    key: await Deno.readTextFile(`${file}key`),
  };
  const issuers = [large.certificate];
  await assert.rejects(
    readSamlResponse(await make({}, large), EXPECTED, {
      pinned: pinnedSigners(issuers, NOW),
      anchored: anchoredSigners(issuers, [], NOW),
    }),
    /the signer's key cannot be used: expected a key of P-256, P-384, P-521 or Ed25519, or of RSA with 2048 to 4096 bits/,
  );
});

Deno.test("readSamlResponse() reads a message that OpenSAML's library signed with a list of prefixes", async () => {
  const file = (name: string) => Deno.readTextFile(new URL(`fixtures/${name}`, import.meta.url));
  const message = await file("signed_by_java.saml");
  assert.match(message, /<ds:InclusiveNamespaces [^>]*PrefixList="xs"/);
  const expected = {
    ...EXPECTED,
    nameIdFormat: NAME_ID_FORMATS.persistent,
    identityTemplate: "CN=%NameID%,UID=%urn:oid:0.9.2342.19200300.100.1.1%,O=%Issuer%",
  };
  const issuers = pinnedSigners([await file("signer.pem")], NOW);
  const { dn } = await readSamlResponse(message, expected, { pinned: issuers, anchored: issuers });
  assert.equal(dn, "CN=K7YCRKTJ\\, O\\=x,UID=ann,O=https://idp.example.org/idp");
  // The signature covers the list: without it, or with another declaration of xs, verification fails.
  const spoiled = [
    replace(/<ds:InclusiveNamespaces[^>]*>/, ""),
    replace('http://www.w3.org/2001/XMLSchema"', 'urn:other"'),
  ];
  for (const spoil of spoiled) {
    await assert.rejects(
      readSamlResponse(spoil(message), expected, { pinned: issuers, anchored: issuers }),
      /signature of Assertion does not verify/,
    );
  }
});

Deno.test("readSamlResponse() names users by a template, in the requested format", async () => {
  const format = (name: string) => `nameid-format:${name}`;
  const other = (name: keyof typeof NAME_ID_FORMATS) => ({
    nameIdFormat: NAME_ID_FORMATS[name],
    identityTemplate: "CN=%NameID%,OU=%preferredUsername%,O=%Issuer%",
  });
  const named = (nameId: string, to: string) =>
    make({ nameId, edit: replace(/nameid-format:X509SubjectName/, to) });
  const O = "O=https://unity.site-a.example:2443/idp";
  const mail = await named("ann@site-a.example", format("emailAddress"));
  assert.equal((await read(mail, other("emailAddress"))).dn, `CN=ann@site-a.example,OU=ann,${O}`);
  const unspecified = await named("ann,O=root", format("unspecified"));
  assert.equal((await read(unspecified, other("unspecified"))).dn, `CN=ann\\,O\\=root,OU=ann,${O}`);
  const without = await make({ nameId: "ann", edit: replace(/ Format="[^"]*X509SubjectName"/, "") });
  assert.equal((await read(without, other("unspecified"))).dn, `CN=ann,OU=ann,${O}`);
  await assert.rejects(read(mail, other("unspecified")), /named as .*:emailAddress, expected .*:unspecified/);
  await assert.rejects(read(unspecified), /expected .*:X509SubjectName/);
  await assert.rejects(
    read(unspecified, { ...other("unspecified"), identityTemplate: "CN=%memberOf%" }),
    /claim memberOf is no text/,
  );
  const mallory = await named("\u{ff41}nn", format("unspecified"));
  await assert.rejects(read(mallory, other("unspecified")), InvalidResponse);
});

Deno.test("readSamlResponse() limits the use of an assertion to its session", async () => {
  const edit = replace(
    "<saml:AuthnStatement",
    `<saml:AuthnStatement SessionNotOnOrAfter="${after(30, OPTIONS)}"`,
  );
  assert.equal((await read(await make({ edit }))).usableUntil, NOW + 30_000);
});

Deno.test("readSamlResponse() allows no reuse of an assertion with OneTimeUse", async () => {
  const edit = replace("</saml:Conditions>", "<saml:OneTimeUse/></saml:Conditions>");
  assert.equal((await read(await make({ edit }))).usableUntil, 0);
});

Deno.test("readSamlResponse() tolerates a clock skew of one minute if strict, else of three", async () => {
  const message = await make();
  const moments: [number, boolean, boolean][] = [
    [-240_001, false, false],
    [-240_000, false, true],
    [-120_001, false, true],
    [-120_000, true, true],
    [659_999, true, true],
    [660_000, false, true],
    [779_999, false, true],
    [780_000, false, false],
  ];
  for (const [offset, strictly, asyncCommit] of moments) {
    for (const [strict, accepted] of [[true, strictly], [false, asyncCommit]] as const) {
      const outcome = read(message, { now: NOW + offset, strict }).then(() => true, () => false);
      assert.equal(await outcome, accepted, `${offset} ms, strict: ${strict}`);
    }
  }
});

// Forgeries. An attacker can get a good message, and has a signing key of his own.

/** Returns an assertion like the signed one, but about Mallory. */
const evil = (id: string) => authnAssertion({ ...OPTIONS, nameId: "CN=Mallory" }, id);
const signature = (signed: string) => /<ds:Signature[^]*<\/ds:Signature>/.exec(signed)?.[0] ?? "";
const withoutSignature = (signed: string) => signed.replace(/<ds:Signature[^]*<\/ds:Signature>/, "");

/** Makes a message with a response around the result of `wrap` for the signed assertion. */
const wrapped = (wrap: (signed: string) => string | Promise<string>) => async () =>
  soapEnvelope(
    samlResponse(OPTIONS, await wrap(await signElement(authnAssertion(OPTIONS), { signer: unity }))),
  );
/** Makes a message whose assertion is changed before the provider signs it. */
const edited = (edit: (assertion: string) => string) => () => make({ edit });
/** Makes a good message and changes it after it was signed. */
const tampered = (tamper: (message: string) => string) => () => make({ tamper });
/** Makes a message with other options of the signature. */
const signed = (options: Partial<Parameters<typeof signElement>[1]>) => () =>
  make({ sign: (xml) => signElement(xml, { signer: unity, ...options }) });

/** Puts lists of prefixes into the second transform. */
const prefixed = (attributes: string, count = 1, namespace = EXCLUSIVE) => {
  const list = `<ec:InclusiveNamespaces xmlns:ec="${namespace}" ${attributes}></ec:InclusiveNamespaces>`;
  return replace(
    `<ds:Transform Algorithm="${EXCLUSIVE}"/>`,
    `<ds:Transform Algorithm="${EXCLUSIVE}">${list.repeat(count)}</ds:Transform>`,
  );
};

const CONDITIONS_END = "</saml:Conditions>";
const C14N = "http://www.w3.org/TR/2001/REC-xml-c14n-20010315";

const FORGERIES: [string, () => string | Promise<string>, RegExp][] = [
  // Signature wrapping (Somorovsky et al., "On Breaking SAML", XSW 1 to 8)
  ["XSW1: evil response around the signed one", async () => {
    const response = await signElement(samlResponse(OPTIONS, authnAssertion(OPTIONS)), {
      signer: unity,
      id: "_r5501",
    });
    const twin = samlResponse(OPTIONS, evil("_evil")).replace("_r5501", "_r6666");
    return soapEnvelope(
      twin.replace(
        "</saml:Issuer>",
        `</saml:Issuer>${
          signature(response).replace(
            "</ds:Signature>",
            `<ds:Object>${withoutSignature(response)}</ds:Object></ds:Signature>`,
          )
        }`,
      ),
    );
  }, /hidden|not exactly/],
  ["XSW2: evil response, signed one beside its signature", async () => {
    const response = await signElement(samlResponse(OPTIONS, authnAssertion(OPTIONS)), {
      signer: unity,
      id: "_r5501",
    });
    const twin = samlResponse(OPTIONS, evil("_evil")).replace("_r5501", "_r6666");
    return soapEnvelope(
      twin.replace("</saml:Issuer>", `</saml:Issuer>${withoutSignature(response)}${signature(response)}`),
    );
  }, /does not refer|hidden|more than one/],
  ["XSW3: evil assertion before the signed one", wrapped((good) => evil("_evil") + good), /not signed/],
  [
    "XSW3 the other way: evil assertion after the signed one",
    wrapped((good) => good + evil("_evil")),
    /not signed/,
  ],
  [
    "XSW4: signed assertion within the evil one",
    wrapped((good) => evil("_evil").replace("</saml:Assertion>", `${good}</saml:Assertion>`)),
    /hidden/,
  ],
  [
    "XSW5: signature in the evil assertion, original after it",
    wrapped((good) =>
      evil("_evil").replace("</saml:Issuer>", `</saml:Issuer>${signature(good)}`) + withoutSignature(good)
    ),
    /does not refer/,
  ],
  [
    "XSW6: original within the signature in the evil assertion",
    wrapped((good) =>
      evil("_evil").replace(
        "</saml:Issuer>",
        `</saml:Issuer>${
          signature(good).replace("</ds:Signature>", `${withoutSignature(good)}</ds:Signature>`)
        }`,
      )
    ),
    /hidden/,
  ],
  [
    "XSW7: evil assertion in extensions",
    wrapped((good) => `<samlp:Extensions>${evil("_evil")}</samlp:Extensions>${good}`),
    /hidden/,
  ],
  [
    "XSW7 turned: original in extensions, evil twin with its signature",
    wrapped((good) =>
      `<samlp:Extensions>${withoutSignature(good)}</samlp:Extensions>${
        evil("_evil").replace("</saml:Issuer>", `</saml:Issuer>${signature(good)}`)
      }`
    ),
    /hidden/,
  ],
  [
    "XSW8: original in an object of the evil twin's signature",
    wrapped((good) =>
      evil("_evil").replace(
        "</saml:Issuer>",
        `</saml:Issuer>${
          signature(good).replace(
            "</ds:Signature>",
            `<ds:Object>${withoutSignature(good)}</ds:Object></ds:Signature>`,
          )
        }`,
      )
    ),
    /hidden/,
  ],
  [
    "an evil twin with the same ID before the original",
    wrapped((good) => evil("_a9001") + good),
    /identifier occurs twice/,
  ],
  [
    "an evil twin with the same ID and the signature, original elsewhere",
    wrapped((good) =>
      evil("_a9001").replace("</saml:Issuer>", `</saml:Issuer>${signature(good)}`) +
      `<samlp:Extensions>${withoutSignature(good)}</samlp:Extensions>`
    ),
    /identifier occurs twice/,
  ],
  ["the original in the SOAP header, evil twin in the body", async () => {
    const good = await signElement(authnAssertion(OPTIONS), { signer: unity });
    return soapEnvelope(
      samlResponse(OPTIONS, evil("_evil").replace("</saml:Issuer>", `</saml:Issuer>${signature(good)}`)),
    ).replace("<soap:Body>", `<soap:Header>${withoutSignature(good)}</soap:Header><soap:Body>`);
  }, /outside of the response/],
  [
    "a second response",
    async () =>
      soapEnvelope(
        samlResponse(OPTIONS, evil("_evil")).replace("_r5501", "_r1") +
          (await make()).replace(/<\/?soap:[^>]*>/g, ""),
      ),
    /exactly one SAML response/,
  ],
  [
    "a second authentication, signed too",
    wrapped(async (good) => good + await signElement(evil("_evil"), { signer: unity })),
    /2 assertions say/,
  ],
  [
    "a second, unsigned assertion of attributes",
    wrapped((good) => good + attributeAssertion(OPTIONS, { memberOf: ["admins"] })),
    /not signed/,
  ],
  [
    "attributes signed by another trusted issuer",
    wrapped(async (good) =>
      good +
      await signElement(attributeAssertion(OPTIONS, { memberOf: ["admins"] }), {
        signer: unityEc,
        method: `${ECDSA}sha256`,
      })
    ),
    /different issuers/,
  ],
  [
    "attributes of another user",
    wrapped(async (good) =>
      good +
      await signElement(attributeAssertion({ ...OPTIONS, nameId: "CN=Root" }, { a: ["b"] }), {
        signer: unity,
      })
    ),
    /another user/,
  ],
  [
    "attributes from yesterday",
    wrapped(async (good) =>
      good +
      await signElement(attributeAssertion({ ...OPTIONS, now: NOW - 86_400_000 }, { a: ["b"] }), {
        signer: unity,
      })
    ),
    /not fresh/,
  ],
  [
    "attributes for another audience",
    wrapped(async (good) =>
      good +
      await signElement(
        attributeAssertion(OPTIONS, { a: ["b"] }).replace(
          "</saml:Subject>",
          "</saml:Subject><saml:Conditions><saml:AudienceRestriction><saml:Audience>x</saml:Audience></saml:AudienceRestriction></saml:Conditions>",
        ),
        { signer: unity },
      )
    ),
    /another audience/,
  ],
  [
    "only attributes",
    async () =>
      soapEnvelope(
        samlResponse(
          OPTIONS,
          await signElement(attributeAssertion(OPTIONS, { a: ["b"] }), { signer: unity }),
        ),
      ),
    /0 assertions say/,
  ],
  // Signatures
  ["no signature", () => make({ sign: (xml) => Promise.resolve(xml) }), /not signed/],
  ["a removed signature", tampered(replace(/<ds:Signature[^]*<\/ds:Signature>/, "")), /not signed/],
  [
    "only the response signed",
    async () =>
      soapEnvelope(
        await signElement(samlResponse(OPTIONS, authnAssertion(OPTIONS)), { signer: unity, id: "_r5501" }),
      ),
    /not signed/,
  ],
  ["a response signature that does not verify", async () => {
    const response = samlResponse(OPTIONS, await signElement(authnAssertion(OPTIONS), { signer: unity }));
    return soapEnvelope(
      (await signElement(response, { signer: unity, id: "_r5501" })).replace(
        `InResponseTo="${OPTIONS.requestId}"`,
        "",
      ),
    );
  }, /signature of Response does not verify/],
  ["a response signature by a stranger", async () => {
    const response = samlResponse(OPTIONS, await signElement(authnAssertion(OPTIONS), { signer: unity }));
    return soapEnvelope(await signElement(response, { signer: stranger, id: "_r5501" }));
  }, /not among the trusted/],
  ["a stranger's key and certificate", signed({ signer: stranger }), /not among the trusted/],
  [
    "a stranger's key under the trusted certificate",
    signed({ signer: stranger, shown: unity.certificate }),
    /does not verify/,
  ],
  [
    "a certificate of the same authority that is no trusted issuer",
    signed({ signer: sibling }),
    /not among the trusted/,
  ],
  ["an expired certificate", signed({ signer: expired }), /not among the trusted/],
  ["a certificate that is not valid yet", signed({ signer: early }), /not among the trusted/],
  ["no certificate", tampered(replace(/<ds:KeyInfo>.*<\/ds:KeyInfo>/, "")), /not exactly/],
  ["an empty KeyInfo", tampered(replace(/<ds:X509Data>.*<\/ds:X509Data>/, "")), /not among the trusted/],
  [
    "a stranger's certificate before the trusted one",
    tampered(
      replace(
        "<ds:X509Certificate>",
        `<ds:X509Certificate>${
          certificateText(stranger.certificate)
        }</ds:X509Certificate><ds:X509Certificate>`,
      ),
    ),
    /not among the trusted/,
  ],
  [
    "an invalid certificate",
    tampered(replace(/<ds:X509Certificate>[^<]*/, "<ds:X509Certificate>AAAA")),
    /not among the trusted/,
  ],
  ["a changed name", tampered(replace("CN=Ann Example", "CN=Mallory")), /does not verify/],
  ["a changed attribute", tampered(replace(">hpc<", ">adm<")), /does not verify/],
  ["another digest", tampered(replace(/<ds:DigestValue>./, "<ds:DigestValue>#")), /does not verify/],
  ["an empty digest", tampered(replace(/<ds:DigestValue>[^<]*/, "<ds:DigestValue>")), /does not verify/],
  [
    "two digests",
    tampered(replace("<ds:DigestValue>", "<ds:DigestValue>AA==</ds:DigestValue><ds:DigestValue>")),
    /not exactly/,
  ],
  [
    "another signature value",
    tampered(replace(/<ds:SignatureValue>.{4}/, "<ds:SignatureValue>AAAA")),
    /does not verify/,
  ],
  [
    "an empty signature value",
    tampered(replace(/<ds:SignatureValue>[^<]*/, "<ds:SignatureValue>")),
    /does not verify/,
  ],
  [
    "RSA with SHA-1",
    signed({ method: SHA1_OF_UNITY.method }),
    /no SHA-1 here/,
  ],
  [
    "a SHA-1 digest",
    signed({ digest: SHA1_OF_UNITY.digest }),
    /no SHA-1 here/,
  ],
  [
    "DSA",
    tampered(replace(RSA_SHA256, "http://www.w3.org/2000/09/xmldsig#dsa-sha1")),
    /method .*dsa-sha1 is not accepted/,
  ],
  [
    "an MD5 digest",
    tampered(
      replace("http://www.w3.org/2001/04/xmlenc#sha256", "http://www.w3.org/2001/04/xmldsig-more#md5"),
    ),
    /digest method .*md5 is not accepted/,
  ],
  [
    "HMAC with the certificate as key",
    signed({
      signer: { key: unity.certificate, certificate: unity.certificate },
      method: "http://www.w3.org/2000/09/xmldsig#hmac-sha1",
    }),
    /not exactly|hmac-sha1 is not accepted/,
  ],
  [
    "HMAC with a KeyInfo",
    tampered(replace(RSA_SHA256, "http://www.w3.org/2000/09/xmldsig#hmac-sha1")),
    /hmac-sha1 is not accepted/,
  ],
  ["ECDSA claimed for an RSA key", tampered(replace(RSA_SHA256, `${ECDSA}sha256`)), /of another kind/],
  [
    "a trusted key of a kind that is not accepted",
    signed({ signer: unity, shown: unityEd.certificate }),
    /of another kind/,
  ],
  ["no signature method", tampered(replace(RSA_SHA256, "")), /is not accepted/],
  [
    "inclusive canonicalization of the signature",
    signed({ canonicalization: C14N }),
    /not canonicalized exclusively/,
  ],
  [
    "canonicalization with comments",
    signed({ canonicalization: `${EXCLUSIVE}WithComments` }),
    /not canonicalized exclusively/,
  ],
  [
    "inclusive canonicalization of the assertion",
    signed({ transforms: [ENVELOPED, C14N] }),
    /transforms that are not accepted/,
  ],
  ["only the enveloped transform", signed({ transforms: [ENVELOPED] }), /not exactly/],
  ["a further transform", signed({ transforms: [ENVELOPED, EXCLUSIVE, EXCLUSIVE] }), /not exactly/],
  [
    "an XPath transform",
    tampered(
      replace(
        `<ds:Transform Algorithm="${ENVELOPED}"/>`,
        `<ds:Transform Algorithm="http://www.w3.org/TR/1999/REC-xpath-19991116"><ds:XPath>self::x</ds:XPath></ds:Transform>`,
      ),
    ),
    /transforms that are not accepted/,
  ],
  [
    "an XSLT transform",
    tampered(
      replace(
        `<ds:Transform Algorithm="${ENVELOPED}"/>`,
        `<ds:Transform Algorithm="http://www.w3.org/TR/1999/REC-xslt-19991116"/>`,
      ),
    ),
    /transforms that are not accepted/,
  ],
  ["a reference without URI", tampered(replace(/ URI="#_a9001"/, "")), /does not refer/],
  ["a reference to the whole document", tampered(replace(/ URI="#_a9001"/, ' URI=""')), /does not refer/],
  ["a reference to the response", tampered(replace(/ URI="#_a9001"/, ' URI="#_r5501"')), /does not refer/],
  [
    "a reference to another site",
    tampered(replace(/ URI="#_a9001"/, ' URI="https://evil.example/a.xml"')),
    /does not refer/,
  ],
  [
    "two references",
    tampered(
      replace(
        /(<ds:Reference [^]*<\/ds:Reference>)/,
        `<ds:Reference URI="#_a9001"/><ds:Reference URI="#_a9001"/>`,
      ),
    ),
    /not exactly/,
  ],
  [
    "two signatures",
    tampered((xml) => xml.replace(/(<ds:Signature [^]*<\/ds:Signature>)/, "$1$1")),
    /more than one signature/,
  ],
  [
    "a second SignedInfo",
    tampered((xml) => xml.replace(/(<ds:SignedInfo>[^]*<\/ds:SignedInfo>)/, "$1$1")),
    /not exactly/,
  ],
  [
    "an object in the signature",
    tampered(replace("</ds:Signature>", "<ds:Object/></ds:Signature>")),
    /not exactly/,
  ],
  [
    "a signature deeper in the assertion",
    tampered((xml) => {
      const found = signature(xml);
      return xml.replace(found, "").replace("<saml:NameID", `${found}<saml:NameID`);
    }),
    /in another place/,
  ],
  ["an ID with a quote", tampered((xml) => xml.replaceAll("_a9001", "_a'or'")), /ID that is none/],
  ["a prefix list without prefixes", tampered(prefixed('PrefixList=""')), /transforms that are not accepted/],
  ["no prefixes at all", tampered(prefixed("")), /transforms that are not accepted/],
  ["blanks in a prefix list", tampered(prefixed('PrefixList="a  b"')), /transforms that are not accepted/],
  ["the default namespace in a list", tampered(prefixed('PrefixList="#default"')), /that are not accepted/],
  [
    "17 prefixes",
    tampered(prefixed(`PrefixList="${Array.from({ length: 17 }, (_, i) => `p${i}`).join(" ")}"`)),
    /transforms that are not accepted/,
  ],
  ["two prefix lists", tampered(prefixed('PrefixList="a"', 2)), /transforms that are not accepted/],
  ["a prefix list of another namespace", tampered(prefixed('PrefixList="a"', 1, "urn:x")), /not accepted/],
  ["XML in a prefix list", tampered(prefixed('PrefixList="a"><x/', 1)), /transforms that are not accepted/],
  [
    "a prefix list that was not signed",
    tampered(prefixed('PrefixList="soap"')),
    /signature of Assertion does not verify/,
  ],
  [
    "a prefix list for the signature itself",
    tampered(
      replace(
        `<ds:CanonicalizationMethod Algorithm="${EXCLUSIVE}"/>`,
        `<ds:CanonicalizationMethod Algorithm="${EXCLUSIVE}"><ec:InclusiveNamespaces xmlns:ec="${EXCLUSIVE}" PrefixList="a"/></ds:CanonicalizationMethod>`,
      ),
    ),
    /not canonicalized exclusively/,
  ],
  ["no ID", tampered(replace(' ID="_a9001"', "")), /no ID/],
  // XML
  ["a document type", tampered((xml) => `<!DOCTYPE x>${xml}`), /document type/],
  [
    "an entity",
    tampered((xml) => `<!DOCTYPE x [<!ENTITY a "CN=Mallory">]>${xml.replace("CN=Ann", "&a;")}`),
    /document type/,
  ],
  ["a document type after a comment", tampered((xml) => `<!-- --><!DOCTYPE x>${xml}`), /document type/],
  ["a comment in the name", tampered(replace("CN=Ann Example,", "CN=Ann Example<!---->,")), /comment/],
  ["a comment that cuts the name", edited(replace("CN=Ann Example,", "CN=Ann Example<!-- -->,")), /comment/],
  ["a CDATA section in the name", edited(replace("CN=Ann Example,", "<![CDATA[CN=Ann Example]]>,")), /CDATA/],
  [
    "a processing instruction",
    tampered(replace("<saml:Subject>", "<?x y?><saml:Subject>")),
    /processing instruction/,
  ],
  ["a comment before the envelope", tampered((xml) => `<!-- x -->${xml}`), /comment/],
  ["an unbound prefix", tampered(replace("<soap:Body>", "<soap:Body><x:y/>")), /not XML|not bound/],
  [
    "markup within the name",
    edited(replace("CN=Ann Example,", "CN=Ann Example<saml:x/>,")),
    /more than text/,
  ],
  ["text after the envelope", tampered((xml) => `${xml}x`), /not XML|outside of its root/],
  ["two envelopes", tampered((xml) => xml + xml), /not XML|not one root/],
  ["half a message", tampered((xml) => xml.slice(0, xml.length / 2)), /not XML/],
  [
    "elements nested very deep",
    tampered(
      replace(
        "<soap:Body>",
        `<soap:Header>${"<a>".repeat(5000)}${"</a>".repeat(5000)}</soap:Header><soap:Body>`,
      ),
    ),
    /at most 64 levels/,
  ],
  // Content with a valid signature
  [
    "another audience",
    edited(replace(/<saml:Audience>[^<]*/, "<saml:Audience>https://other.example")),
    /another audience/,
  ],
  [
    "an audience that begins with ours",
    edited(replace(/<saml:Audience>[^<]*/, `<saml:Audience>${URL_OF_SERVICE}/x`)),
    /another audience/,
  ],
  [
    "two audience restrictions, one of them not for us",
    edited(
      replace(
        CONDITIONS_END,
        `<saml:AudienceRestriction><saml:Audience>x</saml:Audience></saml:AudienceRestriction>${CONDITIONS_END}`,
      ),
    ),
    /another audience/,
  ],
  [
    "no audience restriction",
    edited(replace(/<saml:AudienceRestriction>.*<\/saml:AudienceRestriction>/, "")),
    /not restricted/,
  ],
  [
    "an empty audience restriction",
    edited(replace(/<saml:Audience>.*<\/saml:Audience>/, "")),
    /another audience/,
  ],
  [
    "another recipient",
    edited(replace(/Recipient="[^"]*"/, 'Recipient="https://other.example"')),
    /another recipient/,
  ],
  [
    "our subject as recipient",
    edited(replace(/Recipient="[^"]*"/, `Recipient="${SERVER_DN}"`)),
    /another recipient/,
  ],
  ["no recipient", edited(replace(/Recipient="[^"]*"/, "")), /no Recipient/],
  ["an answer to another request", edited(replace(OPTIONS.requestId, "_other")), /not in response/],
  ["an answer without InResponseTo", edited(replace(/ InResponseTo="[^"]*"/, "")), /not in response/],
  [
    "a response to another request",
    tampered(replace(`InResponseTo="${OPTIONS.requestId}">`, 'InResponseTo="_other">')),
    /to another request/,
  ],
  [
    "an expired assertion",
    edited(
      replace(
        /(NotBefore="[^"]*" NotOnOrAfter=")[^"]*/,
        `NotBefore="${after(-120, OPTIONS)}" NotOnOrAfter="${after(-60, OPTIONS)}`,
      ),
    ),
    /no longer valid/,
  ],
  [
    "an assertion from the future",
    edited(replace(/NotBefore="[^"]*"/, `NotBefore="${after(61, OPTIONS)}"`)),
    /not valid yet/,
  ],
  [
    "an expired confirmation",
    edited(
      replace(/NotOnOrAfter="[^"]*" InResponseTo/, `NotOnOrAfter="${after(-60, OPTIONS)}" InResponseTo`),
    ),
    /no longer valid/,
  ],
  [
    "a confirmation without NotOnOrAfter",
    edited(replace(/NotOnOrAfter="[^"]*" InResponseTo/, "InResponseTo")),
    /no NotOnOrAfter/,
  ],
  [
    "a confirmation with NotBefore",
    edited(
      replace(
        "<saml:SubjectConfirmationData",
        `<saml:SubjectConfirmationData NotBefore="${after(-60, OPTIONS)}"`,
      ),
    ),
    /has NotBefore/,
  ],
  [
    "an expired session",
    edited(
      replace("<saml:AuthnStatement", `<saml:AuthnStatement SessionNotOnOrAfter="${after(-60, OPTIONS)}"`),
    ),
    /session has ended/,
  ],
  ["an invalid time", edited(replace(/NotBefore="[^"]*"/, 'NotBefore="yesterday"')), /not given in UTC/],
  [
    "a time in another zone",
    edited(replace(/NotBefore="[^"]*"/, 'NotBefore="2027-01-15T07:00:00+02:00"')),
    /not given in UTC/,
  ],
  [
    "a date that does not exist",
    edited(replace(/NotBefore="[^"]*"/, 'NotBefore="2026-02-31T07:00:00Z"')),
    /not given in UTC/,
  ],
  [
    "no bearer confirmation",
    edited(replace("cm:bearer", "cm:holder-of-key")),
    /not confirmed for a bearer/,
  ],
  [
    "no confirmation",
    edited(replace(/<saml:SubjectConfirmation [^]*<\/saml:SubjectConfirmation>/, "")),
    /not confirmed for a bearer/,
  ],
  ["no conditions", edited(replace(/<saml:Conditions[^]*<\/saml:Conditions>/, "")), /no Conditions/],
  [
    "conditions twice",
    edited((xml) => xml.replace(/(<saml:Conditions[^]*<\/saml:Conditions>)/, "$1$1")),
    /more than one Conditions/,
  ],
  [
    "an unknown condition",
    edited(replace(CONDITIONS_END, `<saml:Condition/>${CONDITIONS_END}`)),
    /condition Condition is not known/,
  ],
  [
    "OneTimeUse twice",
    edited(replace(CONDITIONS_END, `<saml:OneTimeUse/><saml:OneTimeUse/>${CONDITIONS_END}`)),
    /more than one OneTimeUse/,
  ],
  [
    "no statement of authentication",
    edited(replace(/<saml:AuthnStatement[^]*<\/saml:AuthnStatement>/, "")),
    /0 assertions say/,
  ],
  ["no subject", edited(replace(/<saml:Subject>[^]*<\/saml:Subject>/, "")), /no Subject/],
  ["no name", edited(replace(/<saml:NameID[^]*<\/saml:NameID>/, "")), /no NameID/],
  [
    "an encrypted name",
    edited(replace(/<saml:NameID[^]*<\/saml:NameID>/, "<saml:EncryptedID/>")),
    /no NameID/,
  ],
  [
    "two names",
    edited((xml) => xml.replace(/(<saml:NameID[^]*<\/saml:NameID>)/, "$1$1")),
    /more than one NameID/,
  ],
  [
    "a name of another format",
    edited(replace("nameid-format:X509SubjectName", "nameid-format:unspecified")),
    /named as .*:unspecified, expected .*:X509SubjectName/,
  ],
  ["a name that is no DN", edited(replace("CN=Ann Example,O=Site-A,C=DE", "ann")), /no distinguished name/],
  ["an empty name", edited(replace("CN=Ann Example,O=Site-A,C=DE", "")), /empty/],
  [
    "another issuer than the response's",
    tampered(replace("https://unity.site-a.example:2443/idp", "https://evil.example")),
    /different issuers/,
  ],
  [
    "an issuer that is no entity",
    edited(replace("nameid-format:entity", "nameid-format:persistent")),
    /no entity/,
  ],
  [
    "an empty issuer",
    edited((xml) => xml.replaceAll(/(<saml:Issuer[^>]*>)[^<]*(?=<)/g, "$1")),
    /^the issuer is empty$/,
  ],
  [
    "no issuer",
    tampered((xml) => xml.replaceAll(/<saml:Issuer[^>]*>[^<]*<\/saml:Issuer>(?=<ds)/g, "")),
    /does not verify|no Issuer/,
  ],
  ["SAML 1.1", edited(replace('Version="2.0"', 'Version="1.1"')), /not of SAML 2.0/],
  ["a response of SAML 1.1", tampered(replace('Version="2.0"', 'Version="1.1"')), /not of SAML 2.0/],
  // The response as a whole
  ["a refusal", tampered(replace("status:Success", "status:Requester")), /refused with .*status:Requester/],
  ["no status", tampered(replace(/<samlp:Status>.*<\/samlp:Status>/, "")), /no Status/],
  [
    "two status codes",
    tampered((xml) => xml.replace(/(<samlp:StatusCode[^>]*>)/, "$1$1")),
    /more than one StatusCode/,
  ],
  [
    "only an encrypted assertion",
    () => soapEnvelope(samlResponse(OPTIONS, "<saml:EncryptedAssertion/>")),
    /0 assertions say/,
  ],
  ["no assertion", () => soapEnvelope(samlResponse(OPTIONS, "")), /0 assertions say/],
  [
    "an assertion in another namespace",
    tampered((xml) => xml.replaceAll(/xmlns:saml="[^"]*"/g, 'xmlns:saml="urn:x"')),
    /0 assertions say|not/,
  ],
  [
    "a SOAP fault",
    () => soapEnvelope("<soap:Fault><faultcode>x</faultcode></soap:Fault>"),
    /SOAP fault/,
  ],
  ["an empty body", () => soapEnvelope(""), /exactly one SAML response/],
  ["no envelope", () => samlResponse(OPTIONS, ""), /no SOAP envelope/],
  ["a web page", () => "<html><body>Sign in</body></html>", /no SOAP envelope/],
  ["nothing", () => "", /not XML/],
];

for (const [what, forge, reason] of FORGERIES) {
  Deno.test(`readSamlResponse() refuses ${what}`, async () => {
    await assert.rejects(read(await forge()), (error) => {
      assert.ok(error instanceof InvalidResponse, `${error}`);
      assert.match(error.message, reason);
      return true;
    });
  });
}

// Without validate

const LOOSE: [string, () => Promise<string>, boolean][] = [
  ["no signature", () => make({ sign: (xml) => Promise.resolve(xml) }), true],
  ["the signature of a certificate of our authority", signed({ signer: sibling }), true],
  ["the signature of a trusted issuer", signed({}), true],
  [
    "another audience and recipient",
    edited((xml) => xml.replaceAll(URL_OF_SERVICE, "https://other.example")),
    true,
  ],
  ["the signature of a stranger", signed({ signer: stranger }), false],
  ["a signature that does not verify", tampered(replace("CN=Ann Example", "CN=Mallory")), false],
  ["an answer to another request", edited(replace(OPTIONS.requestId, "_other")), false],
  [
    "no audience restriction",
    edited(replace(/<saml:AudienceRestriction>.*<\/saml:AudienceRestriction>/, "")),
    false,
  ],
  ["two authentications", wrapped((good) => good + evil("_evil")), false],
  ["a refusal", tampered(replace("status:Success", "status:Responder")), false],
  ["a document type", tampered((xml) => `<!DOCTYPE x>${xml}`), false],
];
for (const [what, forge, accepted] of LOOSE) {
  Deno.test(`readSamlResponse() that is not strict ${accepted ? "accepts" : "refuses"} ${what}`, async () => {
    const outcome = read(await forge(), { strict: false });
    if (accepted) await outcome;
    else await assert.rejects(outcome, InvalidResponse);
  });
}

/** Places that an attacker would change: user, attributes, recipient, times and signature. */
const WORTH_CHANGING =
  /CN=Ann Example|preferredUsername|>ann<|>hpc<|InResponseTo="[^"]*"|<saml:Audience>[^<]*|NotOnOrAfter="[^"]*"|Algorithm="[^"]*"|URI="[^"]*"|<ds:DigestValue>[^<]*|<ds:SignatureValue>[^<]*|<saml:Assertion |<\/saml:Assertion>/g;

Deno.test("readSamlResponse() throws only InvalidResponse for edited messages, and never returns another user or attribute", async () => {
  const message = await make();
  const { attributes } = await read(message);
  const places = [...message.matchAll(WORTH_CHANGING)].flatMap((match) => [
    match.index,
    match.index + (match[0].length >> 1),
  ]);
  assert(places.length > 20, "the places are there");
  const edit = fc.tuple(
    fc.oneof(fc.constantFrom(...places), fc.nat(message.length)),
    fc.nat(12),
    fc.oneof(
      fc.string(),
      fc.constantFrom(
        "<saml:Assertion>",
        "<!--",
        "-->",
        "<!--x-->",
        "]]>",
        "&lt;",
        "/>",
        '"',
        "Mallory",
        "root",
      ),
    ),
  );
  let [good, refused] = [0, 0];
  await fc.assert(
    fc.asyncProperty(fc.array(edit, { minLength: 1, maxLength: 2 }), async (edits) => {
      let changed = message;
      for (const [at, length, text] of edits) {
        changed = changed.slice(0, at) + text + changed.slice(at + length);
      }
      try {
        const found = await read(changed);
        assert.deepEqual([found.dn, [...found.attributes]], ["CN=Ann Example,O=Site-A,C=DE", [
          ...attributes,
        ]]);
        good++;
      } catch (error) {
        assert.ok(error instanceof InvalidResponse, `${error}`);
        refused++;
      }
    }),
    { numRuns: 500 },
  );
  assert(refused > 300, `${good} read, ${refused} refused`);
});

for (const place of ["CN=Ann Example", ">ann<", ">hpc<"]) {
  Deno.test(`readSamlResponse() refuses every single change of ${place}`, async () => {
    const message = await make();
    const start = message.indexOf(place);
    assert(start > 0);
    for (let at = start; at < start + place.length; at++) {
      for (const text of ["Z", "", "<!---->", "&#48;"]) {
        const changed = message.slice(0, at) + text + message.slice(at + 1);
        await assert.rejects(read(changed), InvalidResponse, `${at - start} ${text}`);
      }
    }
  });
}

Deno.test("anchoredSigners() trusts an end-entity certificate of the truststore, and nothing that it signed", () => {
  const entity = createAuthority({ subject: "CN=daemon", ca: false });
  const signed = entity.issue({ subject: "CN=unity" });
  const shown = (pem: string) => new X509Certificate(pem).raw;
  const signers = anchoredSigners([], [entity.certificate, authority.certificate], NOW);
  assert.equal(signers(shown(signed.certificate)), undefined);
  assert.notEqual(signers(shown(entity.certificate)), undefined);
  assert.notEqual(signers(shown(authority.issue({ subject: "CN=unity" }).certificate)), undefined);
});
