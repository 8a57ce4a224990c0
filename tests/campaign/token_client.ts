/** Clients that get tokens, use them, and revoke them. */
import { ALICE } from "../system/running_service.ts";
import type { Instance } from "../system/several_instances.ts";
import type { Draw } from "./faults.ts";
import { checkToken, type TokenPast } from "./history.ts";
import type { Surroundings } from "./campaign.ts";

const TOKENS = "/rest/auth/tokens";

/** Client of one user, with the history of its tokens. */
export class TokenClient {
  readonly #tokens: TokenPast[] = [];
  /** Number of tokens that are being issued; a concurrent revocation of all may or may not include them. */
  #issuing = 0;
  #revokedAll = 0;
  /** End of the time in which an unanswered revocation of all may still be in progress at its instance. */
  #unansweredUntil = -Infinity;

  constructor(readonly surroundings: Surroundings) {}

  get count(): number {
    return this.#tokens.length;
  }

  /** Performs one step. */
  async step(draw: Draw): Promise<void> {
    const { instance: at, instances } = this.surroundings;
    const number = draw(instances);
    const what = draw(20);
    const token = this.#tokens[this.#tokens.length - 1 - draw(8)];
    if (token === undefined || what < 4) await this.#issue(at(number));
    else if (what < 16) await this.#use(number, token);
    else if (what < 19) await this.#revoke(number, token);
    else await this.#revokeAll(number);
  }

  /** Sends each token to each instance, once all instances know all revocations. */
  async finish(): Promise<readonly string[]> {
    const { instances } = this.surroundings;
    for (const token of this.#tokens) {
      for (let number = 0; number < instances; number++) await this.#use(number, token, true);
    }
    return this.#tokens.flatMap((token) => checkToken(token));
  }

  async #issue(instance: Instance): Promise<void> {
    this.#issuing++;
    const before = this.#revokedAll;
    const isUnanswered = this.surroundings.now() < this.#unansweredUntil;
    const reply = await this.surroundings.ask(instance, "/rest/auth/token", {
      as: ALICE,
      headers: { Accept: "text/plain" },
    });
    this.#issuing--;
    if (reply?.status !== 200) return;
    const text = reply.text.trim();
    const claims: unknown = JSON.parse(
      atob((text.split(".")[1] ?? "").replaceAll("-", "+").replaceAll("_", "/")),
    );
    const id = typeof claims === "object" && claims !== null && "jti" in claims ? String(claims.jti) : "";
    this.#tokens.push({ text, id, isUnclear: isUnanswered || before !== this.#revokedAll, uses: [] });
  }

  async #use(number: number, token: TokenPast, isLast = false): Promise<void> {
    const { instance, ask, now, quiet } = this.surroundings;
    const began = now();
    const headers = { Authorization: `Bearer ${token.text}`, Accept: "application/json" };
    const reply = await ask(instance(number), "/rest/auth", { headers });
    const { revocation } = token;
    const mustKnow = revocation?.acknowledged !== undefined && revocation.acknowledged < began &&
      (isLast || revocation.at === number ||
        quiet.between(revocation.acknowledged, began) && began - revocation.acknowledged > NEWS_MS);
    token.uses.push({ at: number, outcome: reply?.status ?? "cut", mustKnow, isLast });
  }

  async #revoke(number: number, token: TokenPast): Promise<void> {
    const { instance, ask, now } = this.surroundings;
    token.revocation ??= { at: number };
    const reply = await ask(instance(number), `${TOKENS}/${token.id}`, { as: ALICE, method: "DELETE" });
    if (reply?.status === 200 && token.revocation.acknowledged === undefined) {
      token.revocation = { at: number, acknowledged: now() };
    }
  }

  async #revokeAll(number: number): Promise<void> {
    const { instance, ask, now } = this.surroundings;
    this.#revokedAll++;
    const concerned = [...this.#tokens];
    for (const token of concerned) token.revocation ??= { at: number };
    const reply = await ask(instance(number), TOKENS, { as: ALICE, method: "DELETE" });
    this.#revokedAll++;
    if (reply?.status !== 200) {
      this.#unansweredUntil = now() + UNANSWERED_MS;
      return;
    }
    for (const token of concerned) {
      if (token.revocation?.acknowledged === undefined) {
        token.revocation = { at: number, acknowledged: now() };
      }
    }
  }
}

/** Longest time that an instance may continue a request whose client has left, in milliseconds. */
const UNANSWERED_MS = 15_000;

/** Longest time until others know a revocation while nothing fails, in milliseconds. */
const NEWS_MS = 1000;
