import assert from "node:assert/strict";
import { request } from "node:https";
import { ALICE } from "../running_service.ts";
import { Visitor } from "../visitor.ts";
import { answerTo, BOB, BOB_DN, SharingSystem, textOf } from "./sharing_system.ts";

const PASSWORD = "open sesame äö";
const sharing = await SharingSystem.open();
Deno.test.afterAll(() => sharing[Symbol.asyncDispose]());

/** Returns Basic credentials without a user name, as `curl -u :PASSWORD` sends them. */
const basic = (password: string) => ({
  Authorization: `Basic ${btoa(String.fromCharCode(...new TextEncoder().encode(`:${password}`)))}`,
});

async function post(
  path: string,
  { headers, body }: { readonly headers: Record<string, string>; readonly body: string },
) {
  const outgoing = request(`${sharing.origin}${path}`, {
    method: "POST",
    ca: sharing.system.authority.certificate,
    agent: false,
    headers: {
      "Sec-Fetch-Site": "same-origin",
      "Content-Type": "application/x-www-form-urlencoded",
      ...headers,
    },
  });
  const response = await answerTo(outgoing.end(body));
  return { status: response.statusCode, headers: response.headers, text: await textOf(response) };
}

Deno.test("a link with a password serves nothing without it, whatever the request", async () => {
  const id = await sharing.locked("d", PASSWORD);
  for (const path of ["", "/", "/ten.txt", "/?view=zip", "/ten.txt?view=preview", "/nothing"]) {
    const { status, headers, text } = await sharing.fetch(`${id}${path}`);
    assert.equal(status, 401, path);
    assert.match(headers["www-authenticate"] ?? "", /^Basic realm="link, without user name"/);
    assert.doesNotMatch(text, /0123456789|sub/);
  }
  const drop = await sharing.locked("d/sub", PASSWORD, { access: "DROP" });
  const put = await answerTo(sharing.begin(`${drop}/x`, { method: "PUT" }).end("x"));
  assert.equal(put.statusCode, 401);
  put.resume();
  for (const path of [`/rest/access/HPC/${id}`, "/rest/access/HPC"]) {
    const body = { serverPath: `${sharing.data}/d/ten.txt`, send: true };
    const reply = await sharing.system.ask(path, { method: "POST", body });
    assert.equal(reply.status, 401, `no UFTP session by ${path}`);
  }
});

Deno.test("the password of a link is accepted by Basic without a user name, as from curl, and identifies nobody", async () => {
  const id = await sharing.share("d/ten.txt", { password: PASSWORD });
  assert.equal((await sharing.fetch(id, { headers: basic(PASSWORD) })).text, "0123456789");
  // The service's own hash takes long; that of this link does not.
  const cheap = await sharing.locked("d/sub/x.dat", PASSWORD);
  assert.equal((await sharing.fetch(cheap, { headers: basic("wrong") })).status, 401);
  const elsewhere = await sharing.system.ask("/rest/auth", { headers: basic(PASSWORD) });
  assert.equal(elsewhere.status, 401);
  const own = await sharing.system.ask(`/rest/share/HPC/${id}`, { as: ALICE });
  assert.doesNotMatch(own.text, /scrypt|sesame/);
});

Deno.test("a form asks browsers for the password once, and the cookie opens only this link", async () => {
  const id = await sharing.locked("d", PASSWORD);
  const other = await sharing.locked("d/sub", "another");
  const headers = { Accept: "text/html" };
  const asked = await sharing.fetch(`${id}/`, { headers });
  assert.equal(asked.status, 403);
  assert.equal(asked.headers["www-authenticate"], undefined);
  assert.match(asked.text, new RegExp(`<form method="post" action="[^"]*link/HPC/${id}">`));
  const drops = await sharing.locked("d/sub", PASSWORD, { access: "DROP" });
  const multipart = { ...headers, "Content-Type": "multipart/form-data; boundary=x" };
  const unopened = await post(`/drop/HPC/${drops}`, { headers: multipart, body: "--x--\r\n" });
  assert.equal(unopened.status, 403);
  assert.match(unopened.text, new RegExp(`<form method="post" action="[^"]*link/HPC/${drops}">`));
  const wrong = await post(`/link/HPC/${id}`, { headers, body: "password=wrong" });
  assert.equal(wrong.status, 403);
  assert.match(wrong.text, /Wrong password\./);
  assert.equal(wrong.headers["set-cookie"], undefined);
  const right = await post(`/link/HPC/${id}`, { headers, body: `password=${encodeURIComponent(PASSWORD)}` });
  assert.equal(right.status, 303);
  assert.match(right.headers.location ?? "", new RegExp(`rest/access/HPC/${id}/$`));
  const [set = ""] = right.headers["set-cookie"] ?? [];
  assert.match(set, /^__Host-authserver-link-[^;]+; Path=\/; Secure; HttpOnly; SameSite=Lax$/);
  const Cookie = set.split(";")[0] ?? "";
  assert.equal((await sharing.fetch(`${id}/`, { headers: { ...headers, Cookie } })).status, 200);
  assert.equal((await sharing.fetch(`${other}/`, { headers: { ...headers, Cookie } })).status, 403);
  const moved = Cookie.replace(id, other);
  assert.equal((await sharing.fetch(`${other}/`, { headers: { ...headers, Cookie: moved } })).status, 403);
  const longer = Cookie.replace(/=(\d+)\./, (_, ends) => `=${Number(ends) + 1}.`);
  assert.equal((await sharing.fetch(`${id}/`, { headers: { ...headers, Cookie: longer } })).status, 403);
  await sharing.share("d", { password: "a new one" });
  assert.equal(
    (await sharing.fetch(`${id}/`, { headers: { ...headers, Cookie } })).status,
    403,
    "until it is another one",
  );
});

Deno.test("another site's page cannot send the form of a link, which leads only to its share", async () => {
  const id = await sharing.locked("d/ten.txt", PASSWORD);
  const body = `password=${encodeURIComponent(PASSWORD)}&to=https%3A%2F%2Fevil.example`;
  const foreign = await post(`/link/HPC/${id}`, { headers: { "Sec-Fetch-Site": "cross-site" }, body });
  assert.equal(foreign.status, 403);
  assert.equal(foreign.headers["set-cookie"], undefined);
  const own = await post(`/link/HPC/${id}`, { headers: {}, body });
  assert.match(own.headers.location ?? "", new RegExp(`^(?:\\.\\./)+rest/access/HPC/${id}$`));
});

Deno.test("the form reveals nothing about a password to users whom the share excludes", async () => {
  const elsewhere = await sharing.locked("d/ten.txt", PASSWORD, { sources: ["192.0.2.0/24"] });
  const forBob = await sharing.locked("d/ten.txt", PASSWORD, { user: BOB_DN });
  const cases = [[elsewhere, 403, 403], [forBob, 303, 303]] as const;
  const bob = new Visitor(sharing.system);
  assert.equal((await bob.signIn(BOB)).status, 303);
  const send = async (browser: Visitor, id: string, password: string) => {
    const { status, headers, text } = await browser.post(`/link/HPC/${id}?signed-in`, { password });
    return { status, set: headers["set-cookie"], text };
  };
  for (const [id, others, bobs] of cases) {
    const stranger = new Visitor(sharing.system);
    const [wrong, right] = [await send(stranger, id, "wrong"), await send(stranger, id, PASSWORD)];
    assert.equal(right.status, others);
    assert.equal(right.set, undefined);
    assert.deepEqual(wrong, right);
    assert.doesNotMatch(wrong.text, /Wrong password/);
    assert.equal((await send(bob, id, "wrong")).status, 403);
    assert.equal((await send(bob, id, PASSWORD)).status, bobs);
  }
});

Deno.test("a client that guesses at the password of a link must wait, even with the right one; other links still work", async () => {
  const id = await sharing.locked("d/ten.txt", PASSWORD);
  const free = await sharing.share("d/sub/x.dat");
  let status: number | undefined;
  for (let i = 0; i < 40 && status !== 429; i++) {
    status = (await sharing.fetch(id, { headers: basic(`guess ${i}`) })).status;
  }
  assert.equal(status, 429);
  assert.equal((await sharing.fetch(id, { headers: basic(PASSWORD) })).status, 429);
  for (const Accept of ["text/html", "application/json"]) {
    const byForm = await post(`/link/HPC/${id}`, { headers: { Accept }, body: "password=x" });
    assert.equal(byForm.status, 429, Accept);
    assert.match(byForm.headers["retry-after"] ?? "", /^[1-9][0-9]*$/, Accept);
  }
  assert.equal((await sharing.fetch(free)).status, 200);
});

Deno.test("the address of a form leads back to the page of the link, also after a wrong password", async () => {
  const id = await sharing.locked("d", PASSWORD);
  const leads = async (path: string) => {
    const response = await answerTo(
      request(`${sharing.origin}${path}`, {
        ca: sharing.system.authority.certificate,
        agent: false,
        headers: { Accept: "text/html" },
      }).end(),
    );
    response.resume();
    return new URL(response.headers.location ?? "about:blank", `${sharing.origin}${path}`).pathname;
  };
  assert.equal(await leads(`/link/HPC/${id}`), `/rest/access/HPC/${id}`);
  assert.equal(await leads(`/link/HPC/${id}?signed-in`), `/shared/HPC/${id}`);
  assert.equal(await leads(`/drop/HPC/${id}/a%20b/`), `/rest/access/HPC/${id}/a%20b/`);
  assert.equal(await leads(`/tokens/${id}`), "/login");
});
