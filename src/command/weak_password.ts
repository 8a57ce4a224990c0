import { createHash } from "node:crypto";
import { counted } from "../model/text.ts";

/** Characters; shorter passwords get a warning. */
const LEAST = 12;

/** Returns why a password is easy to guess, if it is. */
export function weakness(password: string): string | undefined {
  const { length } = [...password];
  if (length < LEAST) {
    return `it has ${counted(length, "character", "characters")}, expected ${LEAST}`;
  }
  return isCommonPassword(password) ? "it is one of the first that everybody tries" : undefined;
}

/**
 * Compares case-insensitively with the passwords of 12 or more characters among the 49233 commonest of npm
 * @zxcvbn-ts/language-common 3.0.4, which has all such of the first 10,000.
 */
function isCommonPassword(password: string): boolean {
  const digest = createHash("sha256").update(password.toLowerCase()).digest().subarray(0, 6).toString(
    "base64url",
  );
  return COMMON.has(digest);
}

/** First 48 bits of each SHA-256 in base64url: 8 characters. */
const COMMON: ReadonlySet<string> = new Set(
  [
    "-BWuYXw2-UH1V-6J-VK3S2CD-m5eWhio0XRuHOnR0lsbU_7a1LRYZNnW1SR1upSS23rZUDNu29zwG_Us2EqaaysP2GyGUbeU2K7MZSzk",
    "2Kr8S4R82vzOTH7U3mJ4q57R42-r2h8D4AD0D8Ts4SuC0djX4WiJe7ST53O7XZAm5ABeLBV45JozIW0Y5b32k2ZK5jgYAZH75xTMsjpR",
    "6NXRuQ_76PGtK96j6aL00OHw6lWVzeiN71Ks4JDM7O97HmTH7unG4ZBv7vocfgyW8-rFbqRk84TA5PiN88iAEqyD8dET-cCA8fpdbCZC",
    "97zS1ONy9YfU1YZg9ckxayB69fHOjyXX9kSz0HcCACX3VwTwAFSn3p1PAKa3LUCJALR3dSD7AM_kbSurAVAA9LWMAfccmiurAktMLyeS",
    "AvUUgvVyAyzBH-elBJWfqIEJBMzGdEVfBNvdF3skBRkl0D_YBTQUFSSxBZYEkhFbB_UxYgNnBbtDKkv2BiXlv6EeBkf0sL_UC2fGSk6W",
    "CXy2wyWuCZOPkSjQCad_ROuOCfunlD4iCmcki5rgCx2_8nFKDW_924eXDaC5Q_MiDeBeRbnfDjyxN6RiEH3c6tVgF0F-v-BlF0y3USFJ",
    "FIZKaiPeFLvj9yZIFQNDQxztFmjBH7gdFuU56IOiG3M-MIlxGAPGoz0mGF79TOh2GFR1XADNGL9u3ISAGUgovfg4GmhC_8toGmvU2ded",
    "GwHjChn5H0VOjOjXHDEt1kJqHGmdBtlmHju4lHVvI84H_ofbIFmu9HmWIOfC6JgnJ-7Pl_MNJD0CPMKyJWahjNHqJiiNmQRcJnXnMonA",
    "KIn1Rq-nKSniL0ixKUOlZ7wFKjM0nn5gKwqMI0u5L19s5a4wLEAgk_VmLLOAnuPtLVQ7vBK3LYpBMieqLisk-O5AM0idJJt5M9c-I0Ec",
    "MABfVs8vMZuuKP5OMfYed_JXN-ctVHhLNbbQqqrjNfkVZqaHNieZllxQNqoVqI56O02i4o6-O2YE0xAJO4R-90izOLh7ENCNOV8pEHMc",
    "OldFoF-HP1wLX5wyPqRWtLPfQ0b_kvW1Q3mx0goFQ5CHSC0hQPWYzHZVQZTRcG7RRchr_8uRRqKBzTVJS7XtUuVkSB7DEMKnSH5CDJ3r",
    "SJH4VkgKSdYhMl61SpxT3tKaSrWBHoqgSsH1rv2bSss-YmQcTHPWx311U6YMlDbZUL_uSccGUPSAl-PlVp0P-VO8VvSuNWOEW0BicumJ",
    "W9etsCRGWLqjxUr1WMax0yZTWeIPaUViX1DdcnTvX1cqDaQDXVpwoteIX_7S4b1WXk_467X-XmEOa02CXpKG2oJhXspIkdryXzs7YUlX",
    "YGvkvn2kYXA0wi22YmXbDIxdYtm1ayOpZ9cQpZCgZKgTa-2BZbyGf2j_ZnjUPnQtZvH6gy1h_Kx2tLLJ_MoogEXt_U5-geH6a4QZn1Y5",
    "atZloD3FauIXFkoeaxVxMkDobF8oWp7bbu37ltcnc0duOCYxc5jPEPKacORI7zCZcVqXSRxqcW-f-SkxcXmwswmId1ucIAACd7kOfpl4",
    "dDBWFrK8dlrZ9Mfmdy8P4bJueAsQz6qseJuZ6SpLegGt6kuKf9BvDiphfDbFsPtrfcrJGqyRg3A1SQ8IgNqfiAiVgXSgXU4mgdBv6RZh",
    "ggbSLwQ3ghooAgWqgrpwG8gfh2jO0l5jh9l9FebDhFul5BLQhGBzcd5JhGFbGnvXhN4TaFZYhOvBuseHhmJGfcfJiQekmbVKiTUmIaLl",
    "iXsxIHLCi_TexUXhibAKLt9tiukC3QkRivv9uNvljFyufA3QjG6W96tqjflQJlOPkBWzUCohkHfRr2nHkJzeSic-klsTp--blFcpmyms",
    "lTEk9ZZQlbOvMJkmlc5w2e3jlqHbeEqammIu6vSmn4Cl4UAXnI9aSnd5nhXsgQ0knlonFPd8nt10Ev5loDZHVaOKoLCk-dV4okVv8GHE",
    "pe5w8VIlpgOXSuSzpi7LjE-WpievSUPDpovzsv7Vq4ueArMmqQogc3TSqR8Mwk_2qalaY6Qur1f5ohtYrPRUiJeNrZsHArxBra-d7G_e",
    "rdumoVWVrl3rhl05ruEnHrbws0Vk8cTNs4KCJXicsB6wAIBQsCToQFsSsCVvDvTfsQ5kJ4AusQj9-Me2sowizQRQssN-0ZpdtLt_I2ri",
    "tMTY0b-3tR176m0CtrkBAlXOuDa-NY_KuNqCpJXmuWibRuBNuclQZA4bunXNOeqpvFs_4y4jvOKWbAsNvQhetZpVvqfwiHW7wbWboMVu",
    "wryCnylRx-QCJY7jxALRO0qhxNMI9vIKxcCIEy5qxfIKZ50BxlWNLBFoxoaJszjYxrPlEC8my14PrHXJy3mwKyCvyCB57ISiyF9nuoAm",
    "yK3kXtZPyMOLnIc0yQNOSa8syQvA9tN9yrGOXAzfys_VJEADzFcSmkVJzTQNGlxBzmQoco-K",
  ].join("").match(/.{8}/g),
);
