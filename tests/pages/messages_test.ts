import assert from "node:assert/strict";
import { HeaderList } from "../../src/model/http_message.ts";
import { HttpError } from "../../src/model/http_error.ts";
import { type ErrorRow, ERRORS } from "../../src/model/errors.ts";
import { type Language, plain } from "../../src/pages/markup.ts";
import { localised, message } from "../../src/pages/messages.ts";
import MESSAGES from "../../src/pages/texts/messages.json" with { type: "json" };

const say = (english: string, language: Language) => plain(message(english), language);

/** Errors of programs' requests, and of requests that are not HTTP; a text that is all parameter has its own row. */
const OF_PROGRAMS =
  /BAD_FORWARDING|BAD_REQUEST|CLIENT_GONE|ENCRYPTION|EXPECTATION|HEADER|HTTP_VERSION|INVALID_(PREF|VALUE|REQ|TOKEN_REQ)|LENGTH|METHOD_UNKNOWN|NOT_FOUND|NOT_PERMITTED|NO_LOCK|OTHER_SERVER|REQUEST_TIMEOUT|TARGET|TOKEN_SUBJECT|LOCKS|CODING|UNKNOWN_PREF|MEDIA_TYPE/;

Deno.test("message() knows the text of each error that a page can show", () => {
  const untranslated = Object.entries<ErrorRow>(ERRORS)
    .filter(([code, { text }]) => !OF_PROGRAMS.test(code) && !Object.hasOwn(MESSAGES, text));
  assert.deepEqual(untranslated, []);
});

const namesIn = (text: string) => (text.match(/\{\w+\}/g) ?? []).toSorted();

for (const [english, says] of Object.entries(MESSAGES)) {
  Deno.test(`message() translates "${english}"`, () => {
    for (const text of Object.values(says)) {
      if (!english.startsWith("{status}")) assert.deepEqual(namesIn(text), namesIn(english), text);
      if (english.includes(" ") && !english.startsWith("{one}")) assert.notEqual(text, english);
    }
  });
}

Deno.test("each translated message is one of the service's", async () => {
  const sources = new Deno.Command("cat", {
    args: await Array.fromAsync(filesBelow(new URL("../../src/", import.meta.url))),
  });
  const errors = Object.values(ERRORS).map(({ text }) => text).join("\n");
  const all = errors + new TextDecoder().decode((await sources.output()).stdout);
  for (const english of Object.keys(MESSAGES)) {
    const [, what] = /^(.*) was not found$/.exec(english) ?? [];
    const literals = (what ?? english).split(/\{\w+\}/).filter((piece) => /\w/.test(piece));
    for (const literal of literals) {
      const isThere = all.includes(literal) || /^This share is for/.test(literal);
      assert(isThere, `no source has ${JSON.stringify(literal)}`);
    }
  }
});

Deno.test("message() leaves texts beyond 1,000 characters in English, since their translation takes quadratic time", () => {
  for (const [length, isTranslated] of [[990, true], [1001, false], [10_000_000, false]] as const) {
    const english = `${"x".repeat(length - " is missing".length)} is missing`;
    assert.equal(say(english, "de").endsWith(" fehlt"), isTranslated, String(length));
  }
});

async function* filesBelow(folder: URL): AsyncGenerator<string> {
  for await (const { name, isDirectory } of Deno.readDir(folder)) {
    if (isDirectory) yield* filesBelow(new URL(`${name}/`, folder));
    else if (name.endsWith(".ts")) yield new URL(name, folder).pathname;
  }
}

const FILLED: readonly (readonly [english: string, de: string, fr: string])[] = [
  ["You may not do this", "Sie dürfen das nicht tun", "Vous n’avez pas le droit de faire cela"],
  [
    "DOWN [0 of 1 available]: try this server again later",
    "Der Server ist nicht verfügbar. Bitte versuchen Sie es später erneut",
    "Le serveur n’est pas disponible. Veuillez réessayer plus tard",
  ],
  [
    "Invalid path: it must begin with a slash",
    "Ungültiger Pfad: Er muss mit einem Schrägstrich beginnen",
    "Chemin invalide\u00a0: il doit commencer par une barre oblique",
  ],
  [
    "note: expected a line of at most 500 characters",
    "Nachricht: Erwartet wird eine Zeile mit höchstens 500 Zeichen",
    "Message\u00a0: indiquez une ligne d’au plus 500 caractères",
  ],
  [
    "Authentication failed. This service accepts: a user name with password, an access token of https://op.example.org, an SSH key",
    "Die Anmeldung ist fehlgeschlagen. Dieser Dienst nimmt an: einen Benutzernamen mit Passwort, ein Access-Token von https://op.example.org, einen SSH-Schlüssel",
    "Échec de la connexion. Ce service accepte\u00a0: un nom d’utilisateur avec mot de passe, un jeton d’accès de https://op.example.org, une clé SSH",
  ],
  ["Something new", "Something new", "Something new"],
  ["expected one thing or another", "expected one thing or another", "expected one thing or another"],
  [
    "This server requires another login: a login by SSHKEY or X509; a login at most 60 seconds old",
    "Dieser Server verlangt eine andere Anmeldung: Anmeldung mit SSHKEY oder X509; höchstens 60 Sekunden alte Anmeldung",
    "Ce serveur demande une autre connexion : connexion avec SSHKEY ou X509 ; connexion datant d’au plus 60 secondes",
  ],
  ["{status}", "{status}", "{status}"],
];
for (const [english, de, fr] of FILLED) {
  Deno.test(`message() fills in "${english.slice(0, 40)}"`, () => {
    assert.deepEqual([say(english, "en"), say(english, "de"), say(english, "fr")], [english, de, fr]);
  });
}

Deno.test("localised() translates only the message of an error", () => {
  const request = (language: string) => ({
    request: {
      method: "GET",
      path: "/",
      query: "",
      headers: HeaderList.of({ "Accept-Language": language }),
      client: { address: "192.0.2.1" },
      body: null,
    },
  });
  const body = new HttpError("ERR_QUOTA_USED").body("1");
  assert.deepEqual(localised(request("de-DE"), body), { ...body, errorMessage: "Die Freigabe ist voll" });
  assert.deepEqual(localised(request("it"), body), body);
});
