import type { Agent } from "node:https";
import { ask, type Question, type Reply } from "./ask.ts";

/** Headers that a browser sends with a form from a page of ours. */
export const OWN_PAGE: Readonly<Record<string, string>> = { "Sec-Fetch-Site": "same-origin" };

/** User of a browser without script: keeps cookies, sends forms, and follows redirects only when told to. */
export class Visitor {
  /** Cookies by name. */
  readonly cookies = new Map<string, string>();
  /** `Set-Cookie` fields in the order of arrival. */
  readonly settings: string[] = [];

  constructor(
    readonly system: {
      readonly port: number;
      readonly authority: { readonly certificate: string };
      readonly agent?: Agent;
    },
    readonly base = "",
  ) {}

  /** Requests a page. @param question Request, whose headers join those of the browser. */
  async get(path: string, question: Question = {}): Promise<Reply> {
    const { port, authority, agent } = this.system;
    const cookie = [...this.cookies].map((pair) => pair.join("=")).join("; ");
    const reply = await ask(`https://localhost:${port}${path}`, authority.certificate, {
      agent,
      ...question,
      headers: { Accept: "text/html", ...(cookie !== "" && { Cookie: cookie }), ...question.headers },
    });
    for (const setting of reply.headers["set-cookie"] ?? []) {
      this.settings.push(setting);
      const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(setting) ?? [];
      if (/; Max-Age=0\b/.test(setting)) this.cookies.delete(name);
      else this.cookies.set(name, value);
    }
    return reply;
  }

  /** Sends fields as a form of one of our pages. */
  post(path: string, fields: Readonly<Record<string, string>>, question: Question = {}): Promise<Reply> {
    return this.get(path, {
      ...question,
      method: "POST",
      headers: { ...OWN_PAGE, "Content-Type": "application/x-www-form-urlencoded", ...question.headers },
      body: new URLSearchParams(fields).toString(),
    });
  }

  /** Signs in by the form. */
  async signIn([user, password]: readonly [string, string], question: Question = {}): Promise<Reply> {
    const page = await this.get("/login", question);
    return await this.post("/login", { token: formToken(page), user, password }, question);
  }
}

/** Returns the token in the hidden field of a page's forms. */
export function formToken({ text }: Pick<Reply, "text">): string {
  return /name="token" value="([^"]+)"/.exec(text)?.[1] ?? "";
}
