import { isDeepStrictEqual } from "node:util";
import type { SourceParts } from "../../attributes/attribute_source_kind.ts";
import type { AuthenticationChain } from "../../authentication/chain.ts";
import type { Authenticator } from "../../authentication/authenticator.ts";
import { describeError } from "../../logging/logger.ts";
import type { AttributeSet } from "../../model/attributes.ts";
import type { Identity } from "../../model/identity.ts";
import type { MethodStep, SourceStep } from "./explanation.ts";

/** Takes down what methods and sources say, while the chains do their work as ever. */
export class DecisionRecord {
  readonly methods: MethodStep[] = [];
  readonly sources: SourceStep[] = [];
  #known: readonly string[] = [];
  #identity: Identity | undefined;

  /** The same chain, of which each method's verdict is taken down. */
  chain(chain: AuthenticationChain): AuthenticationChain {
    const { issuedTokens, methods } = chain;
    this.#known = [...issuedTokens ? [issuedTokens] : [], ...methods].map(({ name }) => name);
    return {
      ...chain,
      issuedTokens: issuedTokens && this.#observed(issuedTokens),
      methods: methods.map((method) => this.#observed(method)),
    };
  }

  /** Takes down which methods were not asked any more. */
  endMethods(): void {
    for (const method of this.#known.slice(this.methods.length)) {
      this.methods.push({ method, outcome: "not asked" });
    }
  }

  readonly answer: NonNullable<SourceParts["onAnswer"]> = (source, identity, answer) => {
    // Asked a second time, it is for a caller without the account that was proven on some servers only.
    this.#identity ??= identity;
    const entry = source.originOf?.(identity);
    const step: SourceStep = {
      source: source.name,
      entry,
      ...(answer instanceof Error ? { failure: describeError(answer) } : { attributes: valuesOf(answer) }),
    };
    const elsewhere = identity !== this.#identity;
    if (elsewhere && this.sources.some((earlier) => isDeepStrictEqual(earlier, step))) return;
    this.sources.push(elsewhere ? { ...step, elsewhere } : step);
  };

  #observed(method: Authenticator): Authenticator {
    const { name, challenges, issuer, looksAtCertificates } = method;
    return {
      name,
      challenges,
      issuer,
      looksAtCertificates,
      authenticate: async (credentials, signal) => {
        try {
          const verdict = await method.authenticate(credentials, signal);
          const reason = "reason" in verdict ? { reason: verdict.reason } : {};
          this.methods.push({ method: name, outcome: verdict.kind, ...reason });
          return verdict;
        } catch (error) {
          this.methods.push({ method: name, outcome: "failed", reason: describeError(error) });
          throw error;
        }
      },
      close: () => method.close(),
    };
  }
}

/** Values by attribute, the default ones first. */
function valuesOf({ standard, extra }: AttributeSet): { readonly [name: string]: readonly string[] } {
  return Object.fromEntries([
    ...[...standard].map(([name, { allowed, preferred }]) =>
      [name, [...new Set([...preferred, ...allowed])]] as const
    ),
    ...extra,
  ]);
}
